internal import AccountStorage
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
        try checkGrant(settings, canProveItself, hasKey: key != nil)
        if let reserved = ReservedParameter.first(in: settings.refreshParameters ?? [:]) {
            throw invalid("refreshParameters", "'\(reserved)' is a name that the request itself uses", nil)
        }
        if let name = ReservedParameter.first(
            in: settings.authorizationParameters ?? [:],
            among: ReservedParameter.authorizationNames
        ) {
            throw invalid("authorizationParameters", "'\(name)' is a name that the request itself uses", nil)
        }
        try checkRedirect(settings)
        var registration = try meaning(try settings.registration())
        registration.clientID = clientID
        registration.clientSecret = clientSecret.map { Secret($0) }
        registration.clientKey = key
        registration.dpopKey = dpopKey ?? (settings.dpop == true ? newDPoPKey() : nil)
        try checkAlgorithm(settings.idTokenAlgorithm, hasSecret: clientSecret != nil)
        // False says no more than nothing does.
        if registration.acceptsBearer, registration.dpopKey == nil {
            throw invalid("acceptBearer", "its tokens are bound to no key", "it goes with 'authctl account add --dpop'")
        }
        registration.authorizationDetails = try authorizationDetails(settings.authorizationDetails)
        return registration
    }

    /// The id that the settings have, or else the one that the key file of a service account names.
    private func clientID(_ settings: AccountSettings, _ key: Secret?) throws(VarlinkError) -> String {
        let said = settings.clientId.flatMap { $0.isEmpty ? nil : $0 }
        guard !isRegistering else {
            guard said == nil else { throw invalid("clientId", "a server that registers a client gives it", nil) }
            return ""
        }
        if let said { return said }
        guard settings.grantType == ServiceGrant.Kind.jwtBearer.rawValue,
            let named = key.flatMap(OAuthClient.clientID(namedInClientKey:))
        else { throw invalid("clientId", "it is empty", nil) }
        return named
    }

    /// Refuses what no ID token could be checked by.
    private func checkAlgorithm(_ algorithm: String?, hasSecret: Bool) throws(VarlinkError) {
        guard let algorithm else { return }
        guard OAuthClient.idTokenAlgorithms.contains(algorithm) else {
            throw invalid(
                "idTokenAlgorithm",
                "'\(algorithm)' is no algorithm that ID tokens are checked by",
                OAuthClient.idTokenAlgorithms.joined(separator: ", ")
            )
        }
        // A server that registers the client gives it a secret, too.
        guard !OAuthClient.isSymmetric(idTokenAlgorithm: algorithm) || hasSecret || isRegistering else {
            throw invalid("idTokenAlgorithm", "\(algorithm) needs the client secret", "--client-secret-file FILE")
        }
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

    /// Refuses what cannot be a redirect URI, its port or its scheme.
    private func checkRedirect(_ settings: AccountSettings) throws(VarlinkError) {
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
        if let browser = settings.loginBrowser, !LoginBrowser.isUsable(browser) {
            throw invalid("loginBrowser", "it is not \(LoginBrowser.rule)", "firefox, /usr/bin/chromium")
        }
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

/// How an account obtains its tokens where no person gives the grant.
extension SettingsReader {
    /// Refuses a grant that is not known, lacks what it needs, or has what belongs to another.
    func checkGrant(_ settings: AccountSettings, _ canProveItself: Bool, hasKey: Bool) throws(VarlinkError) {
        let kind = try settings.grantType.map { name throws(VarlinkError) in try self.kind(named: name) }
        if kind != .jwtBearer { try refuseAssertionTerms(settings) }
        if kind != .tokenExchange { try refuseExchangeTerms(settings) }
        switch kind {
        case nil: return
        case .clientCredentials:
            // RFC 6749 §4.4: for confidential clients only.
            guard canProveItself || isRegistering && settings.clientAuthentication != "none" else {
                throw invalid(
                    "grantType",
                    "'client_credentials' needs a client that proves itself",
                    "--client-secret-file FILE, or --client-key-file FILE"
                )
            }
        case .jwtBearer:
            guard hasKey else {
                throw invalid(
                    "grantType",
                    "an assertion is signed with the client's key, and there is none",
                    "--client-key-file FILE"
                )
            }
            try checkAssertion(settings)
        case .tokenExchange: try checkExchange(settings)
        }
    }

    private func kind(named name: String) throws(VarlinkError) -> ServiceGrant.Kind {
        if let kind = ServiceGrant.Kind(rawValue: name) { return kind }
        let all = ServiceGrant.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw invalid("grantType", "'\(name)' is none that needs no person", "known: \(all)")
    }

    private func checkAssertion(_ settings: AccountSettings) throws(VarlinkError) {
        for (field, text) in [
            ("assertionSubject", settings.assertionSubject), ("assertionAudience", settings.assertionAudience),
        ] where text?.isEmpty == true {
            throw invalid(field, "it is empty", nil)
        }
        let lifetime = settings.assertionLifetimeSec.map { Duration.seconds($0) }
        guard lifetime.map(AssertionTerms.lifetimes.contains) ?? true else {
            throw invalid("assertionLifetimeSec", "it must be 10 s to an hour", nil)
        }
    }

    private func checkExchange(_ settings: AccountSettings) throws(VarlinkError) {
        guard settings.subjectAccount != nil else {
            throw invalid("subjectAccount", "a derived account needs one to derive from", "--subject-account NAME")
        }
        try checkSource("subjectAccount", settings.subjectAccount, "subjectTokenType", settings.subjectTokenType)
        try checkSource("actorAccount", settings.actorAccount, "actorTokenType", settings.actorTokenType)
        let requested = try settings.requestedTokenType.map { name throws(VarlinkError) in
            try tokenType(name, "requestedTokenType")
        }
        guard requested != .refreshToken else {
            throw invalid("requestedTokenType", "a derived account holds access tokens only", nil)
        }
    }

    /// - Parameters:
    ///   - field: What the source's name is called on the wire.
    ///   - typeField: And the type of its token.
    private func checkSource(
        _ field: String,
        _ name: String?,
        _ typeField: String,
        _ type: String?
    ) throws(VarlinkError) {
        guard let name else {
            guard type == nil else { throw invalid(typeField, "it is no account's", "--actor-account NAME") }
            return
        }
        guard AccountName(name) != nil else { throw invalid(field, "'\(name)' is no account name", nil) }
        let type = try type.map { name throws(VarlinkError) in try tokenType(name, typeField) }
        guard type != .saml1, type != .saml2 else {
            throw invalid(typeField, "no account here holds SAML assertions", nil)
        }
    }

    private func tokenType(_ name: String, _ field: String) throws(VarlinkError) -> TokenTypeIdentifier {
        if let type = TokenTypeIdentifier(rawValue: name) { return type }
        let all = TokenTypeIdentifier.allCases.map(\.rawValue).joined(separator: ", ")
        throw invalid(field, "'\(name)' is no type of token known here", "known: \(all)")
    }

    private func refuseExchangeTerms(_ settings: AccountSettings) throws(VarlinkError) {
        let given = [
            ("subjectAccount", settings.subjectAccount), ("subjectTokenType", settings.subjectTokenType),
            ("actorAccount", settings.actorAccount), ("actorTokenType", settings.actorTokenType),
            ("requestedTokenType", settings.requestedTokenType),
        ]
        guard let (field, _) = given.first(where: { $0.1 != nil }) else { return }
        throw invalid(field, "only the grant token-exchange derives tokens", "--grant token-exchange")
    }

    private func refuseAssertionTerms(_ settings: AccountSettings) throws(VarlinkError) {
        let given = [
            ("assertionSubject", settings.assertionSubject != nil),
            ("assertionAudience", settings.assertionAudience != nil),
            ("assertionLifetimeSec", settings.assertionLifetimeSec != nil),
        ]
        guard let (field, _) = given.first(where: \.1) else { return }
        throw invalid(
            field,
            "only the grant jwt-bearer has an assertion",
            "--grant jwt-bearer, in 'authctl account add'"
        )
    }
}
