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
        guard settings.clientId.isEmpty == isRegistering else {
            throw invalid("clientId", isRegistering ? "a server that registers a client gives it" : "it is empty", nil)
        }
        if clientSecret?.isEmpty == true { throw invalid("clientSecret", "it is empty", nil) }
        let key = clientKey.map { Secret($0) }
        let method = try authentication(settings, hasSecret: clientSecret != nil, key)
        let canProveItself = method != ClientAuthentication.none && (clientSecret != nil || key != nil)
        let serviceGrant = try serviceGrant(settings.grantType, canProveItself)
        let parameters = settings.refreshParameters ?? [:]
        if let reserved = ReservedParameter.first(in: parameters) {
            throw invalid("refreshParameters", "'\(reserved)' is a name that the request itself uses", nil)
        }
        return ClientRegistration(
            clientID: settings.clientId,
            authentication: method,
            clientSecret: clientSecret.map { Secret($0) },
            clientKey: key,
            clientKeyID: settings.clientKeyId,
            teamID: settings.teamId,
            dpopKey: dpopKey ?? (settings.dpop == true ? OAuthClient.newDPoPKey() : nil),
            serviceGrant: serviceGrant,
            scopes: settings.scopes ?? [],
            refreshParameters: parameters,
            redirect: try redirect(settings)
        )
    }

    /// How the client obtains tokens for itself; nil for an account of a person.
    private func serviceGrant(_ name: String?, _ canProveItself: Bool) throws(VarlinkError) -> ServiceGrant? {
        guard let name else { return nil }
        guard let grant = ServiceGrant(rawValue: name) else {
            let all = ServiceGrant.allCases.map(\.rawValue).joined(separator: ", ")
            throw invalid("grantType", "'\(name)' is none that needs no person", "known: \(all)")
        }
        switch grant {
        case .clientCredentials where !canProveItself:
            // RFC 6749 §4.4: for confidential clients only.
            throw invalid(
                "grantType",
                "'\(name)' needs a client that proves itself",
                "--client-secret-file FILE, or --client-key-file FILE"
            )
        case .clientCredentials: return grant
        }
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
        return RegisteredRedirect(uri: settings.redirectUri, port: port, scheme: settings.redirectScheme)
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
            throw invalid("clientKey", "it is no private key", "PEM or JWK; RSA, P-256, P-384, P-521 or Ed25519")
        case .encrypted:
            throw invalid("clientKey", "it is locked by a passphrase", "openssl pkey -in FILE -out FILE.open")
        case .noCertificate:
            throw invalid("clientKey", "its certificate is missing", "cat certificate.pem key.pem, both in PEM form")
        }
    }
}
