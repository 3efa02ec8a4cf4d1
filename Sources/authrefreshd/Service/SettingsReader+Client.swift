internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

extension SettingsReader {
    /// Checks the client's registration and how the client authenticates, and completes what is derived.
    func check(
        client settings: inout AccountSettings,
        hasSecret: Bool,
        _ key: Secret?,
        _ dpopKey: Secret?
    ) throws(VarlinkError) {
        settings.clientId = try clientID(settings, key)
        let method = try authentication(settings, hasSecret: hasSecret, key)
        try checkAssertionFile(settings, hasSecret: hasSecret, hasKey: key != nil, method)
        let hasProof = hasSecret || key != nil || settings.clientAssertionFile != nil
        let canProveItself = method != ClientAuthentication.none && hasProof
        try check(grant: settings, canProveItself: canProveItself, hasKey: key != nil)
        if let reserved = ReservedParameter.first(in: settings.refreshParameters ?? [:]) {
            throw Complaint.reserved(reserved, field: "refreshParameters").error
        }
        if let name = ReservedParameter.first(
            in: settings.authorizationParameters ?? [:],
            among: ReservedParameter.authorizationNames
        ) {
            throw Complaint.reserved(name, field: "authorizationParameters").error
        }
        for scope in settings.scopes ?? [] where scope.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
            throw Complaint(ValueError(noScope: scope)).error
        }
        try checkRedirect(settings)
        try checkAlgorithm(settings.idTokenAlgorithm, hasSecret: hasSecret)
        // False means the same as a missing value.
        if settings.acceptBearer == true, dpopKey == nil, settings.dpop != true {
            throw Complaint(
                field: "acceptBearer",
                "the account's tokens are not bound to a key anyway",
                hint: "it belongs to --dpop"
            ).error
        }
        settings.authorizationDetails = try authorizationDetails(settings.authorizationDetails)
    }

    /// The client ID in the settings, or else the one in the key file of a service account.
    private func clientID(_ settings: AccountSettings, _ key: Secret?) throws(VarlinkError) -> String {
        let said = settings.clientId.flatMap { $0.isEmpty ? nil : $0 }
        guard !isRegistering else {
            guard said == nil else {
                throw Complaint(
                    field: "clientId",
                    "a server that registers a client chooses its id",
                    hint: "leave it out"
                ).error
            }
            return ""
        }
        if let said { return said }
        guard settings.grantType == ServiceGrant.Kind.jwtBearer.rawValue,
            let named = key.flatMap({ try? $0.clientKeyContents().clientID })
        else { throw Complaint.empty(field: "clientId").error }
        return named
    }

    /// Refuses an algorithm with which no ID token could be verified.
    private func checkAlgorithm(_ algorithm: String?, hasSecret: Bool) throws(VarlinkError) {
        guard let algorithm else { return }
        guard let known = SigningAlgorithm(rawValue: algorithm) else {
            throw Complaint(
                field: "idTokenAlgorithm",
                "ID tokens cannot be checked with '\(algorithm)'",
                hint: "known: \(SigningAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))"
            ).error
        }
        // A server that registers the client will issue a secret.
        guard !known.isSymmetric || hasSecret || isRegistering else {
            throw Complaint(
                field: "idTokenAlgorithm",
                "\(algorithm) needs the client secret",
                hint: "--client-secret-file FILE"
            ).error
        }
    }

    /// RFC 9396 §2: objects that each have a type.
    private func authorizationDetails(_ text: String?) throws(VarlinkError) -> String? {
        guard let text else { return nil }
        guard let details = AuthorizationRequest.details(text) else {
            throw Complaint(
                field: "authorizationDetails",
                "they are not a JSON array of objects with a \"type\"",
                hint: #"[{"type":"payment_initiation"}]"#
            ).error
        }
        return details
    }

    /// Refuses invalid redirect URIs, ports and schemes.
    private func checkRedirect(_ settings: AccountSettings) throws(VarlinkError) {
        if let uri = settings.redirectUri {
            // With a page over plain HTTP, the network could read the code. Loopback does not leave the machine.
            let isSafe = !uri.lowercased().hasPrefix("http:") || LoopbackURI(uri) != nil
            guard RegisteredRedirect.isURI(uri), isSafe else {
                throw Complaint(
                    field: "redirectUri",
                    "'\(uri)' is not a redirect URI",
                    hint: "http://127.0.0.1:PORT/PATH, https://…, or org.example.mail:/callback"
                ).error
            }
        }
        if let scheme = settings.redirectScheme, !RegisteredRedirect.isScheme(scheme) {
            throw Complaint(
                field: "redirectScheme",
                "'\(scheme)' cannot be a URI scheme of your own",
                hint: "a domain name in reverse: org.example.mail"
            ).error
        }
        if let uri = settings.postLogoutRedirectUri, !RegisteredRedirect.isURI(uri) {
            throw Complaint(field: "postLogoutRedirectUri", "'\(uri)' is not a redirect URI", hint: "https://…").error
        }
        let _: LoginWindow? = try Complaint.word(settings.loginWindow, field: "loginWindow", kind: "a known kind")
        if let browser = settings.loginBrowser, !LoginBrowser.isName(browser) {
            throw Complaint(
                field: "loginBrowser",
                "it is not \(LoginBrowser.nameRule)",
                hint: "firefox, or the name of a desktop entry of your own; a command goes into login_browser of the "
                    + "configuration, or into '\(Command("login", "NAME", "--browser", "COMMAND"))'"
            ).error
        }
    }

    /// The chosen method, if its secret or key is there; nil leaves the choice to the client.
    private func authentication(
        _ settings: AccountSettings,
        hasSecret: Bool,
        _ key: Secret?
    ) throws(VarlinkError) -> ClientAuthentication? {
        if settings.teamId != nil, key == nil {
            throw Complaint(
                field: "teamId",
                "Apple's client secret is made with the client's key",
                hint: "--client-key-file AuthKey.p8"
            ).error
        }
        let method: ClientAuthentication? = try Complaint.word(
            settings.clientAuthentication,
            field: "clientAuthentication",
            kind: "a known method"
        )
        let lacking: (means: String, option: Hint)? =
            switch method?.means {
            case .secret where !hasSecret && settings.teamId == nil && !isRegistering:
                ("a client secret", "--client-secret-file FILE")
            case .key where key == nil && settings.clientAssertionFile == nil:
                ("the client's key", "--client-key-file FILE")
            case .certificate where key == nil:
                ("the client's key with its certificate", "--client-key-file FILE")
            case .nothing, .secret, .key, .certificate, nil: nil
            }
        if let method, let (means, option) = lacking {
            throw Complaint(
                field: "clientAuthentication",
                "'\(method.rawValue)' needs \(means)",
                hint: option
            ).error
        }
        if let key { try check(key, method) }
        return method
    }

    /// Refuses a file that cannot be named, or a second proof of the client's identity beside it.
    private func checkAssertionFile(
        _ settings: AccountSettings,
        hasSecret: Bool,
        hasKey: Bool,
        _ method: ClientAuthentication?
    ) throws(VarlinkError) {
        for capability in settings.clientCapabilities ?? [] where !capability.isWord {
            throw Complaint(field: "clientCapabilities", "'\(capability)' is not one word", hint: "cp1").error
        }
        guard let file = settings.clientAssertionFile else { return }
        guard Self.isPath(file) else {
            throw Complaint(field: "clientAssertionFile", "it is not an absolute path", hint: "/PATH/TO/FILE").error
        }
        // The key of a jwt-bearer grant signs for the person, and the assertion is about the client.
        let isKeyUnused = hasKey && settings.grantType != ServiceGrant.Kind.jwtBearer.rawValue
        guard !hasSecret, !isKeyUnused, settings.teamId == nil else {
            throw Complaint(
                field: "clientAssertionFile",
                "the client has a secret or a key already",
                hint: hasSecret ? "--clear client-secret" : "--clear client-key"
            ).error
        }
        guard method == nil || method == .privateKeyJWT else {
            throw Complaint(
                field: "clientAuthentication",
                "'\(method?.rawValue ?? "")' has no place for an assertion",
                hint: "leave --client-auth out"
            ).error
        }
    }

    /// An unusable key is refused immediately and not at the first refresh.
    private func check(_ key: Secret, _ method: ClientAuthentication?) throws(VarlinkError) {
        let hasCertificate: Bool
        do throws(JOSEError) {
            hasCertificate = try key.clientKeyContents().hasCertificate
        } catch .keyIsEncrypted {
            throw Complaint(
                field: "clientKey",
                "it is protected by a passphrase",
                hint: Hint(Command(program: "openssl", "pkey", "-in", "FILE", "-out", "FILE.open"))
            ).error
        } catch {
            throw Complaint(
                field: "clientKey",
                "it is not a private key",
                hint: "PEM, JWK or Google's JSON; RSA, P-256, P-384, P-521 or Ed25519"
            ).error
        }
        guard method?.means != .certificate || hasCertificate else {
            throw Complaint(
                field: "clientKey",
                "its certificate is missing",
                hint: "\(Command(program: "cat", "certificate.pem", "key.pem")), both in PEM form"
            ).error
        }
    }
}

extension Complaint {
    fileprivate static func reserved(_ name: String, field: String) -> Complaint {
        Complaint(field: field, "the request itself uses the name '\(name)'")
    }
}
