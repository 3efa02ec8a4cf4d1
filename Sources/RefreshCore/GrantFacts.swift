/// What a sign-in told about the grant beside its tokens. None of it is secret.
package struct GrantFacts: Hashable, Sendable {
    /// Whose grant it is: `sub` of the ID token (OpenID Connect Core §2), at the account's issuer. Nil if that is not known: the server
    /// told nobody's, or the grant was imported.
    package var subject: String?
    /// What the provider said that programs need beside a token, by the provider's names: `instance_url`, `realmId`.
    package var keptFields: [String: String]

    package init(subject: String? = nil, keptFields: [String: String] = [:]) {
        self.subject = subject
        self.keptFields = keptFields
    }
}
