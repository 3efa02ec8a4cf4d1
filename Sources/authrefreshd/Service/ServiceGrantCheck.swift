internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Varlink

/// Checks the grant of an account that needs no person (RFC 6749 §4.4, RFC 7523, RFC 8693).
struct ServiceGrantCheck {
    let settings: AccountSettings
    /// Whether the client will be registered at the server later.
    let isRegistering: Bool

    /// Refuses a grant that is unknown, lacks something, or has settings of another grant.
    ///
    /// - Parameters:
    ///   - canProveItself: whether the client has a secret or key for authentication.
    ///   - hasKey: whether it has a key.
    func run(canProveItself: Bool, hasKey: Bool) throws(VarlinkError) {
        let kind: ServiceGrant.Kind? = try Complaint.word(
            settings.grantType,
            field: "grantType",
            kind: "a grant that works without a person"
        )
        if kind != .jwtBearer { try refuseAssertionTerms() }
        if kind != .tokenExchange { try refuseExchangeTerms() }
        switch kind {
        case nil: return
        case .clientCredentials:
            // RFC 6749 §4.4: only for confidential clients.
            guard canProveItself || isRegistering && settings.clientAuthentication != "none" else {
                throw Complaint(
                    field: "grantType",
                    "'client_credentials' needs a client that can authenticate",
                    hint: "--client-secret-file FILE, or --client-key-file FILE"
                ).error
            }
        case .jwtBearer:
            guard hasKey else {
                throw Complaint(
                    field: "grantType",
                    "the client's key, which signs the assertion, is missing",
                    hint: "--client-key-file FILE"
                ).error
            }
            try checkAssertion()
        case .tokenExchange: try checkExchange()
        }
    }

    private func checkAssertion() throws(VarlinkError) {
        for (field, text) in [
            ("assertionSubject", settings.assertionSubject), ("assertionAudience", settings.assertionAudience),
        ] where text?.isEmpty == true {
            throw Complaint.empty(field: field).error
        }
    }

    private func checkExchange() throws(VarlinkError) {
        guard settings.subjectAccount != nil else {
            throw Complaint(
                field: "subjectAccount",
                "a derived account needs an account to derive from",
                hint: "--subject-account NAME"
            ).error
        }
        try checkSource("subjectAccount", settings.subjectAccount, "subjectTokenType", settings.subjectTokenType)
        try checkSource("actorAccount", settings.actorAccount, "actorTokenType", settings.actorTokenType)
        // RFC 8693 §3: servers may know other types than the registered ones.
        guard settings.requestedTokenType.map(RegisteredRedirect.isURI) ?? true else {
            throw Complaint(
                field: "requestedTokenType",
                "it is not the URI of a token type",
                hint: "urn:ietf:params:oauth:token-type:NAME"
            ).error
        }
        guard settings.requestedTokenType != TokenTypeIdentifier.refreshToken.rawValue else {
            throw Complaint(field: "requestedTokenType", "a derived account has access tokens only").error
        }
    }

    /// Checks a source account.
    ///
    /// - Parameters:
    ///   - field: the name of the field with the source's name on the wire.
    ///   - typeField: the name of the field with the type of its token.
    private func checkSource(
        _ field: String,
        _ name: String?,
        _ typeField: String,
        _ type: String?
    ) throws(VarlinkError) {
        guard let name else {
            guard type == nil else {
                throw Complaint(
                    field: typeField,
                    "no account is named that it could belong to",
                    hint: "--actor-account NAME"
                ).error
            }
            return
        }
        guard AccountName(name) != nil else { throw Complaint.noAccountName(name, field: field).error }
        let type: TokenTypeIdentifier? = try Complaint.word(type, field: typeField, kind: "a known type of token")
        guard type != .saml1, type != .saml2 else {
            throw Complaint(
                field: typeField,
                "accounts here have no SAML assertions",
                hint: "urn:ietf:params:oauth:token-type:access_token"
            ).error
        }
    }

    private func refuseExchangeTerms() throws(VarlinkError) {
        let given = [
            ("subjectAccount", settings.subjectAccount), ("subjectTokenType", settings.subjectTokenType),
            ("actorAccount", settings.actorAccount), ("actorTokenType", settings.actorTokenType),
            ("requestedTokenType", settings.requestedTokenType),
        ]
        guard let (field, _) = given.first(where: { $0.1 != nil }) else { return }
        throw Complaint(
            field: field,
            "only accounts with the grant token-exchange are derived from another",
            hint: "--grant token-exchange"
        ).error
    }

    private func refuseAssertionTerms() throws(VarlinkError) {
        let given = [
            ("assertionSubject", settings.assertionSubject != nil),
            ("assertionAudience", settings.assertionAudience != nil),
            ("assertionLifetimeSec", settings.assertionLifetimeSec != nil),
        ]
        guard let (field, _) = given.first(where: \.1) else { return }
        throw Complaint(
            field: field,
            "only accounts with the grant jwt-bearer have an assertion",
            hint: Hint(Command("account", "add", "NAME", "--grant", "jwt-bearer"))
        ).error
    }
}
