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
        if clientSecret?.isEmpty == true { throw .invalidSetting("clientSecret", "it is empty", nil) }
        let key = clientKey.map { Secret($0) }
        let clientID = try clientID(settings, key)
        let method = try authentication(settings, hasSecret: clientSecret != nil, key)
        let canProveItself = method != ClientAuthentication.none && (clientSecret != nil || key != nil)
        let grant = ServiceGrantCheck(settings: settings, isRegistering: isRegistering)
        try grant.run(canProveItself: canProveItself, hasKey: key != nil)
        if let reserved = ReservedParameter.first(in: settings.refreshParameters ?? [:]) {
            throw .invalidSetting("refreshParameters", "'\(reserved)' is a name that the request itself uses", nil)
        }
        if let name = ReservedParameter.first(
            in: settings.authorizationParameters ?? [:],
            among: ReservedParameter.authorizationNames
        ) {
            throw .invalidSetting("authorizationParameters", "'\(name)' is a name that the request itself uses", nil)
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
            throw .invalidSetting(
                "acceptBearer",
                "its tokens are bound to no key",
                "it goes with 'authctl account add --dpop'"
            )
        }
        registration.authorizationDetails = try authorizationDetails(settings.authorizationDetails)
        return registration
    }

    /// The client ID in the settings, or else the one in the key file of a service account.
    private func clientID(_ settings: AccountSettings, _ key: Secret?) throws(VarlinkError) -> String {
        let said = settings.clientId.flatMap { $0.isEmpty ? nil : $0 }
        guard !isRegistering else {
            guard said == nil else {
                throw .invalidSetting("clientId", "a server that registers a client gives it", nil)
            }
            return ""
        }
        if let said { return said }
        guard settings.grantType == ServiceGrant.Kind.jwtBearer.rawValue,
            let named = key.flatMap(ClientKeys.clientID(namedIn:))
        else { throw .invalidSetting("clientId", "it is empty", nil) }
        return named
    }

    /// Refuses an algorithm with which no ID token could be verified.
    private func checkAlgorithm(_ algorithm: String?, hasSecret: Bool) throws(VarlinkError) {
        guard let algorithm else { return }
        guard IDTokenAlgorithm.names.contains(algorithm) else {
            throw .invalidSetting(
                "idTokenAlgorithm",
                "'\(algorithm)' is no algorithm that ID tokens are checked by",
                IDTokenAlgorithm.names.joined(separator: ", ")
            )
        }
        // A server that registers the client will issue a secret.
        guard !IDTokenAlgorithm.isSymmetric(algorithm) || hasSecret || isRegistering else {
            throw .invalidSetting(
                "idTokenAlgorithm",
                "\(algorithm) needs the client secret",
                "--client-secret-file FILE"
            )
        }
    }

    /// RFC 9396 §2: objects that each have a type.
    private func authorizationDetails(_ text: String?) throws(VarlinkError) -> String? {
        guard let text else { return nil }
        guard let details = AuthorizationRequest.details(text) else {
            throw .invalidSetting(
                "authorizationDetails",
                "they are no JSON array of objects with a \"type\"",
                #"[{"type":"payment_initiation"}]"#
            )
        }
        return details
    }

    /// Refuses invalid redirect URIs, ports and schemes.
    private func checkRedirect(_ settings: AccountSettings) throws(VarlinkError) {
        if let uri = settings.redirectUri {
            // With a page over plain HTTP, the network could read the code. Loopback does not leave the machine.
            let isSafe = !uri.lowercased().hasPrefix("http:") || LoopbackURI(uri) != nil
            guard RegisteredRedirect.isURI(uri), isSafe else {
                throw .invalidSetting(
                    "redirectUri",
                    "'\(uri)' is no redirect URI",
                    "http://127.0.0.1:PORT/PATH, https://…, or org.example.mail:/callback"
                )
            }
        }
        let port = settings.redirectPort.flatMap(Int.init(exactly:))
        guard settings.redirectPort == nil || port.map(RegisteredRedirect.isPort) == true else {
            throw .invalidSetting("redirectPort", "it is no port", "1 to 65535")
        }
        if let scheme = settings.redirectScheme, !RegisteredRedirect.isScheme(scheme) {
            throw .invalidSetting(
                "redirectScheme",
                "'\(scheme)' is no URI scheme of one's own",
                "a domain name in reverse: org.example.mail"
            )
        }
        if let uri = settings.postLogoutRedirectUri, !RegisteredRedirect.isURI(uri) {
            throw .invalidSetting("postLogoutRedirectUri", "'\(uri)' is no redirect URI", "https://…")
        }
        if let browser = settings.loginBrowser, !LoginBrowser.isUsable(browser) {
            throw .invalidSetting("loginBrowser", "it is not \(LoginBrowser.rule)", "firefox, /usr/bin/chromium")
        }
    }

    /// The chosen method, if its secret or key is there; nil leaves the choice to the client.
    private func authentication(
        _ settings: AccountSettings,
        hasSecret: Bool,
        _ key: Secret?
    ) throws(VarlinkError) -> ClientAuthentication? {
        if settings.teamId != nil, key == nil {
            throw .invalidSetting(
                "teamId",
                "Apple's client secret is made from the client's key",
                "--client-key-file AuthKey.p8"
            )
        }
        var method: ClientAuthentication?
        if let name = settings.clientAuthentication {
            guard let known = ClientAuthentication(rawValue: name) else {
                let all = ClientAuthentication.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidSetting("clientAuthentication", "'\(name)' is no method known here", "known: \(all)")
            }
            method = known
        }
        switch method?.means {
        case .secret where !hasSecret && settings.teamId == nil && !isRegistering:
            throw missing("a client secret", for: method, "--client-secret-file FILE")
        case .key where key == nil:
            throw missing("the client's key", for: method, "--client-key-file FILE")
        case .certificate where key == nil:
            throw missing("the client's key with its certificate", for: method, "--client-key-file FILE")
        case .nothing, .secret, .key, .certificate, nil: break
        }
        if let key { try check(key, method) }
        return method
    }

    private func missing(_ what: String, for method: ClientAuthentication?, _ hint: String) -> VarlinkError {
        .invalidSetting("clientAuthentication", "'\(method?.rawValue ?? "")' needs \(what)", hint)
    }

    /// An unusable key is refused immediately and not at the first refresh.
    private func check(_ key: Secret, _ method: ClientAuthentication?) throws(VarlinkError) {
        switch ClientKeys.flaw(in: key, usedBy: method ?? .privateKeyJWT, isCertified: isCertified) {
        case nil: return
        case .unreadable:
            throw .invalidSetting(
                "clientKey",
                "it is no private key",
                "PEM, JWK or Google's JSON; RSA, P-256, P-384, P-521 or Ed25519"
            )
        case .encrypted:
            throw .invalidSetting("clientKey", "it is locked by a passphrase", "openssl pkey -in FILE -out FILE.open")
        case .noCertificate:
            throw .invalidSetting(
                "clientKey",
                "its certificate is missing",
                "cat certificate.pem key.pem, both in PEM form"
            )
        }
    }
}
