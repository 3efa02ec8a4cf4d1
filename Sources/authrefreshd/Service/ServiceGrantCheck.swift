internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// Looks at how an account obtains its tokens where no person gives the grant (RFC 6749 §4.4, RFC 7523, RFC 8693).
struct ServiceGrantCheck {
    let settings: AccountSettings
    /// Whether the server is yet to be asked for a client.
    let isRegistering: Bool

    /// Refuses a grant that is not known, lacks what it needs, or has what belongs to another.
    ///
    /// - Parameters:
    ///   - canProveItself: whether the client has a secret or a key that it is to use.
    ///   - hasKey: whether it has a key.
    func run(canProveItself: Bool, hasKey: Bool) throws(VarlinkError) {
        let kind = try settings.grantType.map { name throws(VarlinkError) in try self.kind(named: name) }
        if kind != .jwtBearer { try refuseAssertionTerms() }
        if kind != .tokenExchange { try refuseExchangeTerms() }
        switch kind {
        case nil: return
        case .clientCredentials:
            // RFC 6749 §4.4: for confidential clients only.
            guard canProveItself || isRegistering && settings.clientAuthentication != "none" else {
                throw .invalidSetting(
                    "grantType",
                    "'client_credentials' needs a client that proves itself",
                    "--client-secret-file FILE, or --client-key-file FILE"
                )
            }
        case .jwtBearer:
            guard hasKey else {
                throw .invalidSetting(
                    "grantType",
                    "an assertion is signed with the client's key, and there is none",
                    "--client-key-file FILE"
                )
            }
            try checkAssertion()
        case .tokenExchange: try checkExchange()
        }
    }

    private func kind(named name: String) throws(VarlinkError) -> ServiceGrant.Kind {
        if let kind = ServiceGrant.Kind(rawValue: name) { return kind }
        let all = ServiceGrant.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw .invalidSetting("grantType", "'\(name)' is none that needs no person", "known: \(all)")
    }

    private func checkAssertion() throws(VarlinkError) {
        for (field, text) in [
            ("assertionSubject", settings.assertionSubject), ("assertionAudience", settings.assertionAudience),
        ] where text?.isEmpty == true {
            throw .invalidSetting(field, "it is empty", nil)
        }
        let lifetime = settings.assertionLifetimeSec.map { Duration.seconds($0) }
        guard lifetime.map(AssertionTerms.lifetimes.contains) ?? true else {
            throw .invalidSetting("assertionLifetimeSec", "it must be 10 s to an hour", nil)
        }
    }

    private func checkExchange() throws(VarlinkError) {
        guard settings.subjectAccount != nil else {
            throw .invalidSetting(
                "subjectAccount",
                "a derived account needs one to derive from",
                "--subject-account NAME"
            )
        }
        try checkSource("subjectAccount", settings.subjectAccount, "subjectTokenType", settings.subjectTokenType)
        try checkSource("actorAccount", settings.actorAccount, "actorTokenType", settings.actorTokenType)
        let requested = try settings.requestedTokenType.map { name throws(VarlinkError) in
            try tokenType(name, "requestedTokenType")
        }
        guard requested != .refreshToken else {
            throw .invalidSetting("requestedTokenType", "a derived account holds access tokens only", nil)
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
            guard type == nil else { throw .invalidSetting(typeField, "it is no account's", "--actor-account NAME") }
            return
        }
        guard AccountName(name) != nil else { throw .invalidSetting(field, "'\(name)' is no account name", nil) }
        let type = try type.map { name throws(VarlinkError) in try tokenType(name, typeField) }
        guard type != .saml1, type != .saml2 else {
            throw .invalidSetting(typeField, "no account here holds SAML assertions", nil)
        }
    }

    private func tokenType(_ name: String, _ field: String) throws(VarlinkError) -> TokenTypeIdentifier {
        if let type = TokenTypeIdentifier(rawValue: name) { return type }
        let all = TokenTypeIdentifier.allCases.map(\.rawValue).joined(separator: ", ")
        throw .invalidSetting(field, "'\(name)' is no type of token known here", "known: \(all)")
    }

    private func refuseExchangeTerms() throws(VarlinkError) {
        let given = [
            ("subjectAccount", settings.subjectAccount), ("subjectTokenType", settings.subjectTokenType),
            ("actorAccount", settings.actorAccount), ("actorTokenType", settings.actorTokenType),
            ("requestedTokenType", settings.requestedTokenType),
        ]
        guard let (field, _) = given.first(where: { $0.1 != nil }) else { return }
        throw .invalidSetting(field, "only the grant token-exchange derives tokens", "--grant token-exchange")
    }

    private func refuseAssertionTerms() throws(VarlinkError) {
        let given = [
            ("assertionSubject", settings.assertionSubject != nil),
            ("assertionAudience", settings.assertionAudience != nil),
            ("assertionLifetimeSec", settings.assertionLifetimeSec != nil),
        ]
        guard let (field, _) = given.first(where: \.1) else { return }
        throw .invalidSetting(
            field,
            "only the grant jwt-bearer has an assertion",
            "--grant jwt-bearer, in 'authctl account add'"
        )
    }
}
