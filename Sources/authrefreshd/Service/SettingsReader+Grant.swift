internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Varlink

/// Checks the grant of an account that needs no person (RFC 6749 §4.4, RFC 7523, RFC 8693).
extension SettingsReader {
    /// Refuses a grant that is unknown, lacks something, or has settings of another grant.
    ///
    /// - Parameters:
    ///   - canProveItself: whether the client has a secret or key for authentication.
    ///   - hasKey: whether it has a key.
    func check(grant settings: AccountSettings, canProveItself: Bool, hasKey: Bool) throws(VarlinkError) {
        let kind: ServiceGrant.Kind? = try Complaint.word(
            settings.grantType,
            field: "grantType",
            kind: "a grant that works without a person"
        )
        try refuseSettings(ofOthersThan: kind, in: settings)
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
            if settings.assertionSubject?.isEmpty == true { throw Complaint.empty(field: "assertionSubject").error }
            if settings.assertionAudience?.isEmpty == true { throw Complaint.empty(field: "assertionAudience").error }
        case .tokenExchange: try check(exchange: settings)
        }
    }

    private func refuseSettings(
        ofOthersThan kind: ServiceGrant.Kind?,
        in settings: AccountSettings
    ) throws(VarlinkError) {
        let ofAssertion = ["assertionSubject", "assertionAudience", "assertionLifetimeSec"]
        if kind != .jwtBearer, let field = settings.firstSet(of: ofAssertion) {
            throw Complaint(
                field: field,
                "only accounts with the grant jwt-bearer have an assertion",
                hint: Hint(Command("account", "add", "NAME", "--grant", "jwt-bearer"))
            ).error
        }
        let ofExchange = ["subjectAccount", "subjectTokenType", "actorAccount", "actorTokenType", "requestedTokenType"]
        if kind != .tokenExchange, let field = settings.firstSet(of: ofExchange) {
            throw Complaint(
                field: field,
                "only accounts with the grant token-exchange are derived from another",
                hint: "--grant token-exchange"
            ).error
        }
    }

    private func check(exchange settings: AccountSettings) throws(VarlinkError) {
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
}

extension AccountSettings {
    /// The first of these settings that has a value.
    fileprivate func firstSet(of names: [String]) -> String? {
        names.first { Setting.named($0).map { self[$0] != nil } ?? false }
    }
}
