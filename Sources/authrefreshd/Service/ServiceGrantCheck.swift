internal import AuthRefreshInterface
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
        let kind = try settings.grantType.map { name throws(VarlinkError) in try self.kind(named: name) }
        if kind != .jwtBearer { try refuseAssertionTerms() }
        if kind != .tokenExchange { try refuseExchangeTerms() }
        switch kind {
        case nil: return
        case .clientCredentials:
            // RFC 6749 §4.4: only for confidential clients.
            guard canProveItself || isRegistering && settings.clientAuthentication != "none" else {
                throw .invalid(WrongGrant.needsClientProof)
            }
        case .jwtBearer:
            guard hasKey else { throw .invalid(WrongGrant.assertionNeedsKey) }
            try checkAssertion()
        case .tokenExchange: try checkExchange()
        }
    }

    private func kind(named name: String) throws(VarlinkError) -> ServiceGrant.Kind {
        if let kind = ServiceGrant.Kind(rawValue: name) { return kind }
        throw .invalid(WrongGrant.unknownGrant(name: name, known: ServiceGrant.Kind.allCases.map(\.rawValue)))
    }

    private func checkAssertion() throws(VarlinkError) {
        for (field, text) in [
            ("assertionSubject", settings.assertionSubject), ("assertionAudience", settings.assertionAudience),
        ] where text?.isEmpty == true {
            throw .invalid(WrongSetting.empty(field: field))
        }
        let lifetime = settings.assertionLifetimeSec.map { Duration.seconds($0) }
        guard lifetime.map(AssertionTerms.lifetimes.contains) ?? true else {
            throw .invalid(WrongGrant.assertionLifetime)
        }
    }

    private func checkExchange() throws(VarlinkError) {
        guard settings.subjectAccount != nil else { throw .invalid(WrongGrant.noSource) }
        try checkSource("subjectAccount", settings.subjectAccount, "subjectTokenType", settings.subjectTokenType)
        try checkSource("actorAccount", settings.actorAccount, "actorTokenType", settings.actorTokenType)
        let requested = try settings.requestedTokenType.map { name throws(VarlinkError) in
            try tokenType(name, "requestedTokenType")
        }
        guard requested != .refreshToken else {
            throw .invalid(WrongGrant.exchangesAccessTokensOnly)
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
            guard type == nil else { throw .invalid(WrongGrant.typeWithoutActor(field: typeField)) }
            return
        }
        guard AccountName(name) != nil else { throw .invalid(WrongSetting.noAccountName(field: field, name: name)) }
        let type = try type.map { name throws(VarlinkError) in try tokenType(name, typeField) }
        guard type != .saml1, type != .saml2 else {
            throw .invalid(WrongGrant.noSAMLHere(field: typeField))
        }
    }

    private func tokenType(_ name: String, _ field: String) throws(VarlinkError) -> TokenTypeIdentifier {
        if let type = TokenTypeIdentifier(rawValue: name) { return type }
        let known = TokenTypeIdentifier.allCases.map(\.rawValue)
        throw .invalid(WrongGrant.unknownTokenType(field: field, name: name, known: known))
    }

    private func refuseExchangeTerms() throws(VarlinkError) {
        let given = [
            ("subjectAccount", settings.subjectAccount), ("subjectTokenType", settings.subjectTokenType),
            ("actorAccount", settings.actorAccount), ("actorTokenType", settings.actorTokenType),
            ("requestedTokenType", settings.requestedTokenType),
        ]
        guard let (field, _) = given.first(where: { $0.1 != nil }) else { return }
        throw .invalid(WrongGrant.exchangeWithoutGrant(field: field))
    }

    private func refuseAssertionTerms() throws(VarlinkError) {
        let given = [
            ("assertionSubject", settings.assertionSubject != nil),
            ("assertionAudience", settings.assertionAudience != nil),
            ("assertionLifetimeSec", settings.assertionLifetimeSec != nil),
        ]
        guard let (field, _) = given.first(where: \.1) else { return }
        throw .invalid(WrongGrant.assertionWithoutGrant(field: field))
    }
}
