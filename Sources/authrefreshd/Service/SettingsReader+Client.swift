internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

extension SettingsReader {
    /// Reads the client's registration, and how the client authenticates.
    func registration(
        _ settings: AccountSettings,
        _ clientSecret: String?,
        _ clientKey: String?,
        _ dpopKey: Secret?
    ) throws(VarlinkError) -> ClientRegistration {
        if clientSecret?.isEmpty == true { throw .invalid(WrongSetting.empty(field: "clientSecret")) }
        let key = clientKey.map { Secret($0) }
        let clientID = try clientID(settings, key)
        let method = try authentication(settings, hasSecret: clientSecret != nil, key)
        let canProveItself = method != ClientAuthentication.none && (clientSecret != nil || key != nil)
        let grant = ServiceGrantCheck(settings: settings, isRegistering: isRegistering)
        try grant.run(canProveItself: canProveItself, hasKey: key != nil)
        if let reserved = ReservedParameter.first(in: settings.refreshParameters ?? [:]) {
            throw .invalid(WrongClient.reservedParameter(field: "refreshParameters", name: reserved))
        }
        if let name = ReservedParameter.first(
            in: settings.authorizationParameters ?? [:],
            among: ReservedParameter.authorizationNames
        ) {
            throw .invalid(WrongClient.reservedParameter(field: "authorizationParameters", name: name))
        }
        for scope in settings.scopes ?? [] where scope.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
            throw .invalid(WrongArgument.noScope(scope))
        }
        try checkRedirect(settings)
        var registration = try meaning(try settings.registration())
        registration.clientID = clientID
        registration.clientSecret = clientSecret.map { Secret($0) }
        registration.clientKey = key
        registration.dpopKey = dpopKey ?? (settings.dpop == true ? newDPoPKey() : nil)
        try checkAlgorithm(settings.idTokenAlgorithm, hasSecret: clientSecret != nil)
        // False means the same as a missing value.
        if registration.acceptsBearer, registration.dpopKey == nil {
            throw .invalid(WrongClient.bearerWithoutDPoP)
        }
        registration.authorizationDetails = try authorizationDetails(settings.authorizationDetails)
        return registration
    }

    /// The client ID in the settings, or else the one in the key file of a service account.
    private func clientID(_ settings: AccountSettings, _ key: Secret?) throws(VarlinkError) -> String {
        let said = settings.clientId.flatMap { $0.isEmpty ? nil : $0 }
        guard !isRegistering else {
            guard said == nil else { throw .invalid(WrongClient.idComesFromServer) }
            return ""
        }
        if let said { return said }
        guard settings.grantType == ServiceGrant.Kind.jwtBearer.rawValue,
            let named = key.flatMap(ClientKeys.clientID(namedIn:))
        else { throw .invalid(WrongSetting.empty(field: "clientId")) }
        return named
    }

    /// Refuses an algorithm with which no ID token could be verified.
    private func checkAlgorithm(_ algorithm: String?, hasSecret: Bool) throws(VarlinkError) {
        guard let algorithm else { return }
        guard IDTokenAlgorithm.names.contains(algorithm) else {
            throw .invalid(WrongClient.unknownAlgorithm(name: algorithm, known: IDTokenAlgorithm.names))
        }
        // A server that registers the client will issue a secret.
        guard !IDTokenAlgorithm.isSymmetric(algorithm) || hasSecret || isRegistering else {
            throw .invalid(WrongClient.algorithmNeedsSecret(name: algorithm))
        }
    }

    /// RFC 9396 §2: objects that each have a type.
    private func authorizationDetails(_ text: String?) throws(VarlinkError) -> String? {
        guard let text else { return nil }
        guard let details = AuthorizationRequest.details(text) else {
            throw .invalid(WrongClient.noAuthorizationDetails)
        }
        return details
    }

    /// Refuses invalid redirect URIs, ports and schemes.
    private func checkRedirect(_ settings: AccountSettings) throws(VarlinkError) {
        if let uri = settings.redirectUri {
            // With a page over plain HTTP, the network could read the code. Loopback does not leave the machine.
            let isSafe = !uri.lowercased().hasPrefix("http:") || LoopbackURI(uri) != nil
            guard RegisteredRedirect.isURI(uri), isSafe else {
                throw .invalid(WrongClient.noRedirectURI(uri))
            }
        }
        let port = settings.redirectPort.flatMap(Int.init(exactly:))
        guard settings.redirectPort == nil || port.map(RegisteredRedirect.isPort) == true else {
            throw .invalid(WrongClient.noPort)
        }
        if let scheme = settings.redirectScheme, !RegisteredRedirect.isScheme(scheme) {
            throw .invalid(WrongClient.noScheme(scheme))
        }
        if let uri = settings.postLogoutRedirectUri, !RegisteredRedirect.isURI(uri) {
            throw .invalid(WrongClient.noLogoutRedirectURI(uri))
        }
        if let browser = settings.loginBrowser, !LoginBrowser.isName(browser) {
            throw .invalid(WrongClient.noBrowser)
        }
    }

    /// The chosen method, if its secret or key is there; nil leaves the choice to the client.
    private func authentication(
        _ settings: AccountSettings,
        hasSecret: Bool,
        _ key: Secret?
    ) throws(VarlinkError) -> ClientAuthentication? {
        if settings.teamId != nil, key == nil {
            throw .invalid(WrongClient.teamNeedsKey)
        }
        var method: ClientAuthentication?
        if let name = settings.clientAuthentication {
            guard let known = ClientAuthentication(rawValue: name) else {
                let known = ClientAuthentication.allCases.map(\.rawValue)
                throw .invalid(WrongClient.unknownMethod(name: name, known: known))
            }
            method = known
        }
        switch method?.means {
        case .secret where !hasSecret && settings.teamId == nil && !isRegistering:
            throw missing(.secret, for: method)
        case .key where key == nil:
            throw missing(.key, for: method)
        case .certificate where key == nil:
            throw missing(.certificate, for: method)
        case .nothing, .secret, .key, .certificate, nil: break
        }
        if let key { try check(key, method) }
        return method
    }

    private func missing(_ proof: WrongClient.Proof, for method: ClientAuthentication?) -> VarlinkError {
        .invalid(WrongClient.methodNeeds(proof, method: method?.rawValue ?? ""))
    }

    /// An unusable key is refused immediately and not at the first refresh.
    private func check(_ key: Secret, _ method: ClientAuthentication?) throws(VarlinkError) {
        switch ClientKeys.flaw(in: key, usedBy: method ?? .privateKeyJWT, isCertified: isCertified) {
        case nil: return
        case .unreadable: throw .invalid(WrongClient.noPrivateKey)
        case .encrypted: throw .invalid(WrongClient.lockedPrivateKey)
        case .noCertificate: throw .invalid(WrongClient.noCertificate)
        }
    }
}
