/// The policy that an ID token must come from, at servers with several ways to sign in (the user flows of Azure AD
/// B2C).
package struct IDTokenPolicy: Hashable, Sendable {
    /// The policy's name; case does not matter.
    package let name: String
    /// The claims that may name the policy: `tfp`, and `acr` in older tokens. The first one that is present counts.
    package let claims: [String]

    /// Checks the policy in a token. A token that names no policy passes.
    ///
    /// - Throws: `wrongPolicy` if the token names another policy.
    func check(_ payload: JSONObject) throws(JOSEError) {
        guard let claim = claims.first(where: payload.hasValue) else { return }
        let found = payload.text(claim) ?? ""
        guard found.lowercased() == name.lowercased() else { throw .wrongPolicy(found) }
    }
}
