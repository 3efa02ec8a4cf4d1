import RefreshCore
import Testing

@testable import OAuthMessages

/// The policy of an ID token (Azure AD B2C) decides about validity as the issuer does.
@Suite struct PolicyTests {
    private func validation() throws -> IDTokenValidation {
        var validation = IDTokenValidation(issuer: try Issuer(url: Forge.issuer), clientID: Forge.clientID)
        validation.policies.claims = ["tfp", "acr"]
        validation.policies.current = "B2C_1_SignIn"
        return validation
    }

    private func validate(_ claims: [String: String?]) throws -> IDToken {
        let key = try Forge.key(.rs256)
        let token = try Forge.token(key, claims: Forge.claims(claims))
        return try validation().validate(token, keys: Forge.keySet(key), now: Forge.now)
    }

    @Test(arguments: [
        ["tfp": #""B2C_1_SignIn""#], ["tfp": #""b2c_1_signin""#], ["acr": #""b2c_1_signin""#],
        ["tfp": #""B2C_1_signin""#, "acr": #""B2C_1_edit""#], [:], ["tfp": "null", "acr": #""B2C_1_signin""#],
    ])
    func `the account's own policy is accepted in any case`(claims: [String: String]) throws {
        _ = try validate(claims.mapValues { $0 })
    }

    @Test(arguments: [
        ["tfp": #""B2C_1_edit""#], ["acr": #""B2C_1_edit""#], ["tfp": #""B2C_1_edit""#, "acr": #""B2C_1_SignIn""#],
    ])
    func `a token of another policy is refused`(claims: [String: String]) throws {
        #expect(throws: JOSEError.wrongPolicy("B2C_1_edit")) { try validate(claims.mapValues { $0 }) }
    }

    @Test(arguments: [#""""#, "1", #"["B2C_1_SignIn"]"#])
    func `a claim that is not a policy's name counts as another policy`(claim: String) throws {
        #expect(throws: JOSEError.wrongPolicy("")) { try validate(["tfp": claim]) }
    }

    @Test func `a refresh with a token of another policy is refused`() throws {
        let key = try Forge.key(.rs256)
        let token = { (policy: String) throws in
            try Forge.token(key, claims: Forge.claims(["tfp": "\"\(policy)\""]))
        }
        let subject = try validation().continued(token("b2c_1_signin"), subject: "u-1").subject
        #expect(subject == "u-1")
        #expect(throws: JOSEError.wrongPolicy("B2C_1_edit")) {
            try validation().continued(token("B2C_1_edit"), subject: "u-1")
        }
    }
}
