/// What a provider profile says about policies. A policy is a name in the provider's endpoints that decides what a
/// person goes through at the sign-in, such as the user flows and custom policies of Azure AD B2C.
package struct SignInPolicies: Hashable, Sendable {
    /// The variable of the profile that names the policy; nil if the provider has no policies.
    package var variable: String?
    /// The claims of an ID token that may name the policy that was run. The first one present counts.
    package var claims: [String] = []
    /// The policy with which people reset their password; nil if nobody has configured one.
    package var passwordReset: String?
    /// The beginnings of error descriptions that ask for that policy: `AADB2C90118`.
    package var passwordResetCodes: [String] = []
    /// The beginnings of error descriptions that say that the person cancelled: `AADB2C90091`.
    package var cancellationCodes: [String] = []
    /// The policy that is run; nil before the profile's variables are filled in, and if there is none.
    package internal(set) var current: String?

    package init() {}

    /// Whether two names mean the same policy. Servers may change the case of the name.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        one.lowercased() == other.lowercased()
    }

    /// Checks the policy in an ID token. A token that names no policy passes.
    ///
    /// - Throws: `wrongPolicy` if the token names another policy.
    func check(_ payload: JSONObject) throws(JOSEError) {
        guard let current, let claim = claims.first(where: payload.hasValue) else { return }
        let found = payload.text(claim) ?? ""
        guard Self.isSame(found, current) else { throw .wrongPolicy(found) }
    }
}

extension SignInPolicies {
    enum Key: String, CaseIterable {
        case variable = "policy_variable"
        case claims = "policy_claims"
        case passwordReset = "password_reset_policy"
        case passwordResetCodes = "password_reset_on"
        case cancellationCodes = "cancelled_on"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields, variables: [ProfileVariable]) throws {
        claims = try fields.words(Key.claims.rawValue)
        passwordResetCodes = try fields.words(Key.passwordResetCodes.rawValue)
        cancellationCodes = try fields.words(Key.cancellationCodes.rawValue)
        variable = try fields.converted(Key.variable.rawValue, "must be the name of one of the variables") { name in
            variables.isEmpty || variables.contains { $0.name == name } ? name : nil
        }
        let own = variables.first { $0.name == variable } ?? ProfileVariable(name: "policy", help: "")
        passwordReset = try fields.converted(
            Key.passwordReset.rawValue,
            "is not a value that the policy's variable can have"
        ) { name in
            own.takes(name) ? name : nil
        }
    }
}

extension ProviderProfile {
    /// The account's variables with `policy` instead of its own policy.
    ///
    /// - Returns: nil if the provider has no policies, or a policy cannot have this name.
    package func variables(_ variables: [String: String], running policy: String) -> [String: String]? {
        guard let own = self.variables.first(where: { $0.name == policies.variable }), own.takes(policy) else {
            return nil
        }
        return variables.merging([own.name: policy]) { $1 }
    }
}
