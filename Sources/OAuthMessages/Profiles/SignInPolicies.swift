package import JOSE

/// What a provider profile says about policies: what a person goes through at the server is chosen by a name in its endpoints (the user
/// flows and custom policies of Azure AD B2C).
package struct SignInPolicies: Hashable, Sendable {
    /// The variable of the profile that names the policy; nil: the provider has none.
    package var variable: String?
    /// The claims of an ID token that may name the policy that was run; the first that is there counts.
    package var claims: [String] = []
    /// The policy in which people reset their password; nil: nobody has said which.
    package var passwordReset: String?
    /// How the description of an error begins that asks for that policy: `AADB2C90118`.
    package var passwordResetCodes: [String] = []
    /// How the description of an error begins that says that the person has turned back: `AADB2C90091`.
    package var cancellationCodes: [String] = []
    /// The policy that is run; nil before the profile's variables are filled in, and where there is none.
    package internal(set) var current: String?

    package init() {}

    /// Whether two names are one policy's: servers write them as they like.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        one.lowercased() == other.lowercased()
    }

    /// What ID tokens have to say about the policy; nil if nothing.
    package var demand: IDTokenPolicy? {
        guard !claims.isEmpty else { return nil }
        return current.map { IDTokenPolicy(name: $0, claims: claims) }
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
        variable = try fields.converted(Key.variable.rawValue, "is none of the variables") { name in
            variables.isEmpty || variables.contains { $0.name == name } ? name : nil
        }
        let own = variables.first { $0.name == variable } ?? ProfileVariable(name: "policy", help: "")
        passwordReset = try fields.converted(Key.passwordReset.rawValue, "can be no policy's name here") { name in
            own.takes(name) ? name : nil
        }
    }
}

extension ProviderProfile {
    /// The account's variables with `policy` in place of its own policy.
    ///
    /// - Returns: nil if the provider has no policies, or none can have this name.
    package func variables(_ variables: [String: String], running policy: String) -> [String: String]? {
        guard let own = self.variables.first(where: { $0.name == policies.variable }), own.takes(policy) else {
            return nil
        }
        return variables.merging([own.name: policy]) { $1 }
    }
}
