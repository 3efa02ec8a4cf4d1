import RefreshCore

extension IDTokenValidation {
    /// What Entra writes into issuers where the tenant's id belongs.
    private static let tenantPlace = "{tenantid}"

    /// §3.1.3.7 rule 2: the issuer, byte for byte, or what its provider is known to write instead.
    func checkIssuer(_ claims: IDToken, signedBy key: JSONWebKey?) throws(JOSEError) {
        guard let issuerTemplate, !isOneTenant(of: issuerTemplate) else {
            guard isConfigured(claims.issuer) else { throw .wrongIssuer(claims.issuer) }
            return
        }
        // Entra's key set names for each key the issuers that it signs for; a key of one tenant must not speak for another.
        if let signer = key?.issuer {
            guard fill(signer, claims.tenant)?.isIdentical(to: claims.issuer) ?? false else {
                throw .keyOfAnotherIssuer
            }
        }
        let own = fill(issuerTemplate, claims.tenant)
        guard isConfigured(claims.issuer) || own?.isIdentical(to: claims.issuer) ?? false else {
            throw .wrongIssuer(claims.issuer)
        }
    }

    private func isConfigured(_ found: String) -> Bool {
        found.isIdentical(to: issuer.url) || issuerAliases.contains { found.isIdentical(to: $0) }
    }

    /// Whether the account's own issuer names a tenant by its id: then no other tenant will do.
    private func isOneTenant(of template: String) -> Bool {
        let ends = template.split(separator: Self.tenantPlace, omittingEmptySubsequences: false)
        guard ends.count == 2, issuer.url.hasPrefix(ends[0]), issuer.url.hasSuffix(ends[1]) else { return false }
        return Self.isTenantID(issuer.url.dropFirst(ends[0].count).dropLast(ends[1].count))
    }

    /// `template` for the tenant `tenant`; nil if that is no tenant's id, which might be half a URL.
    private func fill(_ template: String, _ tenant: String?) -> String? {
        guard template.contains(Self.tenantPlace) else { return template }
        guard let tenant, Self.isTenantID(tenant) else { return nil }
        return template.replacing(Self.tenantPlace, with: tenant)
    }

    /// A UUID in its usual form.
    private static func isTenantID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 36 && text.utf8.allSatisfy { "0123456789abcdefABCDEF-".utf8.contains($0) }
    }
}
