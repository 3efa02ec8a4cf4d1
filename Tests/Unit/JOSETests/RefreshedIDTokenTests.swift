import RefreshCore
import Testing

@testable import OAuthMessages

/// An ID token from a refresh, compared with the one from the sign-in (OpenID Connect Core §12.2).
@Suite struct RefreshedIDTokenTests {
    private static let original: [String: String?] = [
        "auth_time": "1799999000", "azp": #""mail""#, "aud": #"["mail","api"]"#,
    ]

    private func validate(_ changes: [String: String?]) throws -> IDToken {
        let key = try Forge.key(.es256)
        let first = try Forge.token(key, claims: Forge.claims(Self.original))
        var validation = try Forge.validation()
        validation.nonce = nil
        validation.previous = try IDToken(stored: first)
        let claims = Forge.claims(Self.original.merging(changes) { _, new in new })
        return try validation.validate(Forge.token(key, claims: claims), keys: Forge.keySet(key), now: Forge.now)
    }

    @Test func `a token of the same sign-in is accepted, with or without optional claims`() throws {
        #expect(try validate([:]).subject == "u-1")
        #expect(try validate(["nonce": nil, "auth_time": nil]).subject == "u-1")
        #expect(try validate(["aud": #"["api","mail","more"]"#]).audiences.count == 3)
    }

    @Test(arguments: [
        ("sub", #""u-2""#, Claim.subject), ("sub", #""U-1""#, .subject), ("aud", #""mail""#, .audience),
        ("auth_time", "1799999001", .authenticationTime), ("nonce", #""n-2""#, .nonce),
    ]) func `the claims that identify the sign-in must not change`(name: String, json: String, claim: Claim) {
        #expect(throws: JOSEError.changedOnRefresh(claim)) { try validate([name: json]) }
    }

    @Test func `an issuer that the server may write in two ways must not change either`() throws {
        let key = try Forge.key(.es256)
        var validation = try Forge.validation()
        validation.issuerAliases = ["op.example.org"]
        validation.previous = try IDToken(stored: Forge.token(key))
        let token = try Forge.token(key, claims: Forge.claims(["iss": #""op.example.org""#]))
        #expect(throws: JOSEError.changedOnRefresh(.issuer)) {
            try validation.validate(token, keys: Forge.keySet(key), now: Forge.now)
        }
    }

    @Test func `an authorized party must neither appear nor disappear`() throws {
        #expect(throws: JOSEError.changedOnRefresh(.authorizedParty)) {
            let key = try Forge.key(.es256)
            var validation = try Forge.validation()
            validation.previous = try IDToken(stored: Forge.token(key))
            let token = try Forge.token(key, claims: Forge.claims(["azp": #""mail""#]))
            return try validation.validate(token, keys: Forge.keySet(key), now: Forge.now)
        }
        #expect(throws: JOSEError.changedOnRefresh(.authorizedParty)) {
            let key = try Forge.key(.es256)
            var validation = try Forge.validation()
            validation.previous = try IDToken(stored: Forge.token(key, claims: Forge.claims(["azp": #""mail""#])))
            return try validation.validate(Forge.token(key), keys: Forge.keySet(key), now: Forge.now)
        }
    }
}
