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
        switch kind {
        case nil: return nil
        case .clientCredentials:
            // RFC 6749 §4.4: for confidential clients only.
            guard canProveItself else {
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
