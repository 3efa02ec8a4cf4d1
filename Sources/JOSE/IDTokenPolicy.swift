/// The policy that has to have been run for an ID token: what the person went through at a server that has several ways to sign in
/// (the user flows of Azure AD B2C).
package struct IDTokenPolicy: Hashable, Sendable {
    /// Its name, in which case does not matter.
    package let name: String
    /// The claims that may name the policy: `tfp`, and `acr` in older ones. The first that is there counts.
    package let claims: [String]

    package init(name: String, claims: [String]) {
        self.name = name
        self.claims = claims
    }

    /// - Throws: `wrongPolicy` for a token of another one. One that names no policy says nothing about it.
    func check(_ payload: JSONObject) throws(JOSEError) {
        guard let claim = claims.first(where: payload.hasValue) else { return }
        let found = payload.text(claim) ?? ""
        guard found.lowercased() == name.lowercased() else { throw .wrongPolicy(found) }
    }
}
