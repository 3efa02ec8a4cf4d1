internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

extension SettingsReader {
    /// What the server knows about the client, and how the client proves itself.
    func registration(
        _ settings: AccountSettings,
        _ clientSecret: String?,
        _ clientKey: String?,
        _ dpopKey: Secret?
    ) throws(VarlinkError) -> ClientRegistration {
        if clientSecret?.isEmpty == true { throw invalid("clientSecret", "it is empty", nil) }
        let key = clientKey.map { Secret($0) }
        let clientID = try clientID(settings, key)
        let method = try authentication(settings, hasSecret: clientSecret != nil, key)
        let canProveItself = method != ClientAuthentication.none && (clientSecret != nil || key != nil)
        let serviceGrant = try serviceGrant(settings, canProveItself, hasKey: key != nil)
        let parameters = settings.refreshParameters ?? [:]
        if let reserved = ReservedParameter.first(in: parameters) {
            throw invalid("refreshParameters", "'\(reserved)' is a name that the request itself uses", nil)
        }
        let authorizationParameters = settings.authorizationParameters ?? [:]
        if let name = ReservedParameter.first(
            in: authorizationParameters,
            among: ReservedParameter.authorizationNames
        ) {
            throw invalid("authorizationParameters", "'\(name)' is a name that the request itself uses", nil)
        }
        return ClientRegistration(
            clientID: clientID,
            authentication: method,
            clientSecret: clientSecret.map { Secret($0) },
            clientKey: key,
            clientKeyID: settings.clientKeyId,
            teamID: settings.teamId,
            dpopKey: dpopKey ?? (settings.dpop == true ? OAuthClient.newDPoPKey() : nil),
            serviceGrant: serviceGrant,
            scopes: settings.scopes ?? [],
            refreshParameters: parameters,
            authorizationParameters: authorizationParameters,
            authorizationDetails: try authorizationDetails(settings.authorizationDetails),
            redirect: try redirect(settings)
        )
    }

    /// The id that the settings have, or else the one that the key file of a service account names.
    private func clientID(_ settings: AccountSettings, _ key: Secret?) throws(VarlinkError) -> String {
        guard !isRegistering else {
            guard settings.clientId.isEmpty else {
                throw invalid("clientId", "a server that registers a client gives it", nil)
            }
            return ""
        }
        guard settings.clientId.isEmpty else { return settings.clientId }
        guard settings.grantType == ServiceGrant.Kind.jwtBearer.rawValue,
            let named = key.flatMap(OAuthClient.clientID(namedInClientKey:))
        else { throw invalid("clientId", "it is empty", nil) }
        return named
    }

    /// RFC 9396 §2: objects, each of which says its type.
    private func authorizationDetails(_ text: String?) throws(VarlinkError) -> String? {
        guard let text else { return nil }
        guard let details = OAuthClient.authorizationDetails(text) else {
            throw invalid(
                "authorizationDetails",
                "they are no JSON array of objects with a \"type\"",
                #"[{"type":"payment_initiation"}]"#
            )
        }
        return details
    }

    /// What the server knows of redirect URIs.
    private func redirect(_ settings: AccountSettings) throws(VarlinkError) -> RegisteredRedirect {
        if let uri = settings.redirectUri {
            // A page in the clear would show the code to the network; loopback never reaches it.
            let isSafe = !uri.lowercased().hasPrefix("http:") || LoopbackURI(uri) != nil
            guard RegisteredRedirect.isURI(uri), isSafe else {
                throw invalid(
                    "redirectUri",
                    "'\(uri)' is no redirect URI",
                    "http://127.0.0.1:PORT/PATH, https://…, or org.example.mail:/callback"
                )
            }
        }
        let port = settings.redirectPort.flatMap(Int.init(exactly:))
        guard settings.redirectPort == nil || port.map(RegisteredRedirect.isPort) == true else {
            throw invalid("redirectPort", "it is no port", "1 to 65535")
        }
        if let scheme = settings.redirectScheme, !RegisteredRedirect.isScheme(scheme) {
            throw invalid(
                "redirectScheme",
                "'\(scheme)' is no URI scheme of one's own",
                "a domain name in reverse: org.example.mail"
            )
        }
        if let uri = settings.postLogoutRedirectUri, !RegisteredRedirect.isURI(uri) {
            throw invalid("postLogoutRedirectUri", "'\(uri)' is no redirect URI", "https://…")
        }
        return RegisteredRedirect(
            uri: settings.redirectUri,
            port: port,
            scheme: settings.redirectScheme,
            postLogoutURI: settings.postLogoutRedirectUri
        )
    }

    /// The method that was chosen, if what it needs is there; nil leaves it to the client.
    private func authentication(
        _ settings: AccountSettings,
        hasSecret: Bool,
        _ key: Secret?
    ) throws(VarlinkError) -> ClientAuthentication? {
        if settings.teamId != nil, key == nil {
            throw invalid(
                "teamId",
                "Apple's client secret is made from the client's key",
                "--client-key-file AuthKey.p8"
            )
        }
        var method: ClientAuthentication?
        if let name = settings.clientAuthentication {
            guard let known = ClientAuthentication(rawValue: name) else {
                let all = ClientAuthentication.allCases.map(\.rawValue).joined(separator: ", ")
                throw invalid("clientAuthentication", "'\(name)' is no method known here", "known: \(all)")
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
        invalid("clientAuthentication", "'\(method?.rawValue ?? "")' needs \(what)", hint)
    }

    /// A key that cannot be used is refused when it comes, and not at the first refresh.
    private func check(_ key: Secret, _ method: ClientAuthentication?) throws(VarlinkError) {
        switch OAuthClient.flaw(inClientKey: key, usedBy: method ?? .privateKeyJWT) {
        case nil: return
        case .unreadable:
            throw invalid(
                "clientKey",
                "it is no private key",
                "PEM, JWK or Google's JSON; RSA, P-256, P-384, P-521 or Ed25519"
            )
        case .encrypted:
            throw invalid("clientKey", "it is locked by a passphrase", "openssl pkey -in FILE -out FILE.open")
        case .noCertificate:
            throw invalid("clientKey", "its certificate is missing", "cat certificate.pem key.pem, both in PEM form")
        }
    }
}
