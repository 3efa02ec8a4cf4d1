internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// How an account obtains its tokens where no person gives the grant.
extension SettingsReader {
    /// Nil for an account of a person.
    func serviceGrant(
        _ settings: AccountSettings,
        _ canProveItself: Bool,
        hasKey: Bool
    ) throws(VarlinkError) -> ServiceGrant? {
        let kind = try settings.grantType.map { name throws(VarlinkError) in try self.kind(named: name) }
        if kind != .jwtBearer { try refuseAssertionTerms(settings) }
        if kind != .tokenExchange { try refuseExchangeTerms(settings) }
        switch kind {
        case nil: return nil
        case .clientCredentials:
            // RFC 6749 §4.4: for confidential clients only.
            guard canProveItself || isRegistering && settings.clientAuthentication != "none" else {
                throw invalid(
                    "grantType",
                    "'client_credentials' needs a client that proves itself",
                    "--client-secret-file FILE, or --client-key-file FILE"
                )
            }
            return .clientCredentials
        case .jwtBearer:
            guard hasKey else {
                throw invalid(
                    "grantType",
                    "an assertion is signed with the client's key, and there is none",
                    "--client-key-file FILE"
                )
            }
            return .jwtBearer(try assertionTerms(settings))
        case .tokenExchange: return .tokenExchange(try exchangeTerms(settings))
        }
    }

    private func kind(named name: String) throws(VarlinkError) -> ServiceGrant.Kind {
        if let kind = ServiceGrant.Kind(rawValue: name) { return kind }
        let all = ServiceGrant.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        throw invalid("grantType", "'\(name)' is none that needs no person", "known: \(all)")
    }

    private func assertionTerms(_ settings: AccountSettings) throws(VarlinkError) -> AssertionTerms {
        for (field, text) in [
            ("assertionSubject", settings.assertionSubject), ("assertionAudience", settings.assertionAudience),
        ] where text?.isEmpty == true {
            throw invalid(field, "it is empty", nil)
        }
        let lifetime = settings.assertionLifetimeSec.map { Duration.seconds($0) }
        guard lifetime.map(AssertionTerms.lifetimes.contains) ?? true else {
            throw invalid("assertionLifetimeSec", "it must be 10 s to an hour", nil)
        }
        return AssertionTerms(
            subject: settings.assertionSubject,
            audience: settings.assertionAudience,
            lifetime: lifetime
        )
    }

    private func exchangeTerms(_ settings: AccountSettings) throws(VarlinkError) -> ExchangeTerms {
        guard
            let subject = try sourceToken(
                SourceFields(account: "subjectAccount", type: "subjectTokenType"),
                settings.subjectAccount,
                settings.subjectTokenType
            )
        else {
            throw invalid("subjectAccount", "a derived account needs one to derive from", "--subject-account NAME")
        }
        let actor = try sourceToken(
            SourceFields(account: "actorAccount", type: "actorTokenType"),
            settings.actorAccount,
            settings.actorTokenType
        )
        let requested = try settings.requestedTokenType.map { name throws(VarlinkError) in
            try tokenType(name, "requestedTokenType")
        }
        guard requested != .refreshToken else {
            throw invalid("requestedTokenType", "a derived account holds access tokens only", nil)
        }
        return ExchangeTerms(subject: subject, actor: actor, requestedType: requested)
    }

    /// What the two settings of a source are called on the wire.
    private struct SourceFields {
        let account: String
        let type: String
    }

    private func sourceToken(
        _ fields: SourceFields,
        _ name: String?,
        _ type: String?
    ) throws(VarlinkError) -> SourceToken? {
        guard let name else {
            guard type == nil else { throw invalid(fields.type, "it is no account's", "--actor-account NAME") }
            return nil
        }
        guard let account = AccountName(name) else {
            throw invalid(fields.account, "'\(name)' is no account name", nil)
        }
        let type = try type.map { name throws(VarlinkError) in try tokenType(name, fields.type) }
        guard type != .saml1, type != .saml2 else {
            throw invalid(fields.type, "no account here holds SAML assertions", nil)
        }
        return SourceToken(account: account, type: type ?? .accessToken)
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
