import FoundationEssentials
import RefreshCore
import Testing

@testable import OAuthMessages

@Suite struct IDTokenValidationTests {
    private static let seconds = Forge.now.microseconds / 1_000_000

    /// Validates properly signed claims that differ from valid ones by `changes`.
    private func validate(
        _ changes: [String: String?],
        skew: Duration = .zero,
        _ setUp: (inout IDTokenValidation) throws -> Void = { _ in }
    ) throws -> IDToken {
        let key = try Forge.key(.es256)
        var validation = try Forge.validation()
        try setUp(&validation)
        let token = try Forge.token(key, claims: Forge.claims(changes))
        return try validation.validate(token, keys: Forge.keySet(key), now: Forge.now, skew: skew)
    }

    @Test(arguments: SigningAlgorithm.allCases.filter { !$0.isSymmetric })
    func `a token with any public-key algorithm is accepted`(algorithm: SigningAlgorithm) throws {
        let key = try Forge.key(algorithm)
        let token = try Forge.token(key)
        let claims = try Forge.validation().validate(token, keys: Forge.keySet(key), now: Forge.now)
        #expect(claims.subject == "u-1")
        #expect(claims.issuer == Forge.issuer)
    }

    @Test func `all claims about the user are read`() throws {
        let token = try validate([
            "email": #""a@example.org""#, "preferred_username": #""ann""#, "name": #""Ann\u00e9""#, "sid": #""s-1""#,
            "tid": #""t-1""#, "oid": #""o-1""#, "auth_time": "1799999990", "acr": #""loa2""#, "amr": #"["pwd","otp"]"#,
            "azp": #""mail""#, "nbf": "1799999000.5",
        ])
        #expect(token.email == "a@example.org")
        #expect(token.preferredUsername == "ann")
        #expect(token.name == "Anné")
        #expect(token.session == "s-1")
        #expect(token.tenant == "t-1")
        #expect(token.object == "o-1")
        #expect(token.authenticatedAt == Timestamp(microseconds: 1_799_999_990_000_000))
        #expect(token.authenticationContext == "loa2")
        #expect(token.authenticationMethods == ["pwd", "otp"])
        #expect(token.notBefore == Timestamp(microseconds: 1_799_999_000_500_000))
        #expect(token.expiresAt == Forge.now + .seconds(600))
    }

    @Test(arguments: [
        ("iss", Claim.issuer), ("sub", .subject), ("aud", .audience), ("exp", .expiration), ("iat", .issuedAt),
        ("nonce", .nonce),
    ]) func `a token without a claim that it needs is refused`(name: String, claim: Claim) {
        #expect(throws: JOSEError.claimMissing(claim)) { try validate([name: nil]) }
        #expect(throws: JOSEError.claimMissing(claim)) { try validate([name: "null"]) }
    }

    @Test(arguments: [
        ("iss", "1", Claim.issuer), ("sub", "7", .subject), ("sub", #""""#, .subject), ("sub", #""a\nb""#, .subject),
        ("aud", "[1]", .audience), ("exp", #""1800000600""#, .expiration), ("exp", "-1", .expiration),
        ("exp", "1e300", .expiration), ("iat", "true", .issuedAt), ("nonce", "[]", .nonce),
        ("azp", "{}", .authorizedParty),
        ("auth_time", #""yesterday""#, .authenticationTime), ("acr", "2", .authenticationContext),
        ("at_hash", "0", .accessTokenHash), ("nbf", "{}", .notBefore),
    ]) func `a claim of another type or range is refused`(name: String, json: String, claim: Claim) {
        #expect(throws: JOSEError.claimMalformed(claim)) { try validate([name: json]) }
    }

    @Test func `a subject of 255 bytes is accepted and one of 256 is not`() throws {
        let name = String(repeating: "u", count: 255)
        #expect(try validate(["sub": "\"\(name)\""]).subject == name)
        #expect(throws: JOSEError.claimMalformed(.subject)) { try validate(["sub": "\"\(name)u\""]) }
    }

    // MARK: Issuer

    @Test(arguments: [
        "https://op.example.org/", "https://OP.example.org", "http://op.example.org", "op.example.org",
        "https://op.example.org.evil.example", "",
    ]) func `an issuer that differs by a byte is refused`(found: String) {
        #expect(throws: JOSEError.wrongIssuer(found)) { try validate(["iss": "\"\(found)\""]) }
    }

    @Test func `Google may leave the scheme out, and nobody else`() throws {
        let bare = ["iss": #""accounts.google.com""#]
        let token = try validate(bare) {
            $0.issuer = try Issuer(url: "https://accounts.google.com")
            $0.issuerAliases = ["accounts.google.com"]
        }
        #expect(token.issuer == "accounts.google.com")
        #expect(throws: JOSEError.wrongIssuer("accounts.google.com")) {
            try validate(bare) { $0.issuer = try Issuer(url: "https://accounts.google.com") }
        }
    }

    // MARK: Audience

    @Test func `the audience may be an array`() throws {
        #expect(try validate(["aud": #"["mail"]"#]).audiences == ["mail"])
    }

    @Test(arguments: [#""other""#, #"["other"]"#, "[]", #""mail ""#, #""MAIL""#])
    func `a token for another client is refused`(audience: String) {
        #expect(throws: JOSEError.wrongAudience) { try validate(["aud": audience]) }
    }

    @Test func `a second audience needs an authorized party, which must be this client`() throws {
        let both = #"["mail","api"]"#
        #expect(throws: JOSEError.wrongAuthorizedParty) { try validate(["aud": both]) }
        #expect(throws: JOSEError.wrongAuthorizedParty) { try validate(["aud": both, "azp": #""api""#]) }
        #expect(try validate(["aud": both, "azp": #""mail""#]).audiences == ["mail", "api"])
        #expect(throws: JOSEError.wrongAuthorizedParty) { try validate(["azp": #""api""#]) }
    }

    // MARK: Times

    @Test func `a token is valid until its expiry plus the leeway`() throws {
        let leeway = IDTokenValidation.leeway.microseconds / 1_000_000
        _ = try validate(["exp": "\(Self.seconds - leeway + 1)"])
        let end = Timestamp(microseconds: (Self.seconds - leeway) * 1_000_000)
        #expect(throws: JOSEError.expired(end)) { try validate(["exp": "\(Self.seconds - leeway)"]) }
    }

    @Test func `a token from the future is refused beyond the leeway`() throws {
        let leeway = IDTokenValidation.leeway.microseconds / 1_000_000
        _ = try validate(["iat": "\(Self.seconds + leeway)", "nbf": "\(Self.seconds + leeway)"])
        let late = Timestamp(microseconds: (Self.seconds + leeway + 1) * 1_000_000)
        #expect(throws: JOSEError.issuedInFuture(late)) { try validate(["iat": "\(Self.seconds + leeway + 1)"]) }
        #expect(throws: JOSEError.notYetValid(late)) { try validate(["nbf": "\(Self.seconds + leeway + 1)"]) }
    }

    @Test func `a token made an hour ago is accepted, and a week-old unexpired one is refused`() throws {
        _ = try validate(["iat": "\(Self.seconds - 3600)"])
        let week = Timestamp(microseconds: (Self.seconds - 604_800) * 1_000_000)
        #expect(throws: JOSEError.issuedLongAgo(week)) { try validate(["iat": "\(Self.seconds - 604_800)"]) }
    }

    @Test func `times are checked by the server's clock`() throws {
        let (made, end) = ("\(Self.seconds + 7200)", "\(Self.seconds + 7500)")
        _ = try validate(["iat": made, "exp": end], skew: .seconds(7200))
        #expect(throws: JOSEError.issuedInFuture(Forge.now + .seconds(7200))) {
            try validate(["iat": made, "exp": end])
        }
        #expect(throws: JOSEError.expired(Forge.now + .seconds(600))) { try validate([:], skew: .seconds(7200)) }
    }

    // MARK: Bindings

    @Test func `another nonce is refused, and none is required if none was sent`() throws {
        #expect(throws: JOSEError.nonceMismatch) { try validate(["nonce": #""n-2""#]) }
        #expect(throws: JOSEError.nonceMismatch) { try validate(["nonce": #""""#]) }
        _ = try validate(["nonce": nil]) { $0.nonce = nil }
    }

    @Test func `the hashes must match the access token and the code`() throws {
        let hash = "\"\(SigningAlgorithm.es256.halfHash(of: "token-1".utf8))\""
        _ = try validate(["at_hash": hash, "c_hash": hash]) {
            $0.accessToken = Secret("token-1")
            $0.code = Secret("token-1")
        }
        #expect(throws: JOSEError.accessTokenMismatch) {
            try validate(["at_hash": hash]) { $0.accessToken = Secret("token-2") }
        }
        #expect(throws: JOSEError.codeMismatch) { try validate(["c_hash": hash]) { $0.code = Secret("token-2") } }
        // Optional in the code flow (OpenID Connect Core §3.1.3.6).
        _ = try validate([:]) { $0.accessToken = Secret("token-2") }
    }

    // MARK: Authentication

    @Test func `with a maximum age the authentication time is required and must be within it`() throws {
        let age = Duration.seconds(300)
        #expect(throws: JOSEError.claimMissing(.authenticationTime)) { try validate([:]) { $0.maxAge = age } }
        _ = try validate(["auth_time": "\(Self.seconds - 300)"]) { $0.maxAge = age }
        let early = Timestamp(microseconds: (Self.seconds - 361) * 1_000_000)
        #expect(throws: JOSEError.authenticatedLongAgo(early)) {
            try validate(["auth_time": "\(Self.seconds - 361)"]) { $0.maxAge = age }
        }
    }

    @Test func `a required authentication context must be present`() throws {
        let wanted = ["urn:mfa", "urn:phr"]
        _ = try validate(["acr": #""urn:phr""#]) { $0.acceptableContexts = wanted }
        #expect(throws: JOSEError.wrongAuthenticationContext("urn:pwd")) {
            try validate(["acr": #""urn:pwd""#]) { $0.acceptableContexts = wanted }
        }
        #expect(throws: JOSEError.wrongAuthenticationContext(nil)) {
            try validate([:]) { $0.acceptableContexts = wanted }
        }
    }
}
