import RefreshCore
import Testing

@testable import authrefreshd

/// The answers that a browser can bring, and how they are judged. Most of them are what an attacker would send.
@Suite struct AuthorizationResponseTests {
    private typealias Samples = SignInSamples

    private func verdict(
        _ form: String,
        requiresIssuer: Bool = false,
        isCodeBound: Bool = true
    ) throws -> AuthorizationVerdict {
        let expected = Samples.expectation(requiresIssuer: requiresIssuer, isCodeBound: isCodeBound)
        return try Samples.response(form).verdict(against: expected)
    }

    private func code(_ text: String) -> AuthorizationVerdict { .code(AuthorizationCode(Secret(text))) }

    private static func untrusted(_ reason: String) -> AuthorizationVerdict {
        .untrusted(SignInFailure(.refused, "the answer \(reason)"))
    }

    private static let wrongIssuer = untrusted("names another issuer than the one that you sign in to")
    private static let noIssuer = untrusted("does not name its issuer, although this server's answers should")
    private static let codeAndError = untrusted("has both a code and an error")
    private static let malformedCode = untrusted("has a malformed code, or one that was not requested")

    @Test func `the answer to our request contains the code`() throws {
        #expect(try verdict("code=SplxlOBeZQQYbYS6WxSbIA&state=\(Samples.state)") == code("SplxlOBeZQQYbYS6WxSbIA"))
    }

    @Test func `form encoding is undone`() throws {
        #expect(try verdict("state=\(Samples.state)&code=4%2F0Ab%2bc+d%3D") == code("4/0Ab+c d="))
    }

    // MARK: CSRF and replay

    @Test(arguments: [
        "code=x", "code=x&state=", "code=x&state=wrong", "error=access_denied", "error=access_denied&state=wrong", "",
        "code=x&state=\(SignInSamples.state)x", "code=x&state=\(SignInSamples.state.dropLast())",
        "code=x&state=\(SignInSamples.state.lowercased())", "code=x&State=\(SignInSamples.state)",
    ])
    func `a response without our state is not an answer, not even an error`(form: String) throws {
        #expect(try verdict(form) == .refused(.wrongState))
    }

    @Test func `the request's own address is not an answer, although it has our state`() throws {
        let address = "response_type=code&client_id=app&state=\(Samples.state)"
        #expect(try verdict(address) == .refused(.noAnswer))
    }

    @Test(arguments: ["code=a&code=b", "state=a&state=b&code=c", "error=a&%65rror=b", "x=1&x=1"])
    func `a repeated parameter makes the response invalid`(form: String) {
        #expect(throws: SignInFailure(.refused, "it has a parameter twice")) { try Samples.response(form) }
    }

    @Test(arguments: ["code=%", "code=%4", "code=%zz", "code=%ff", "%c3=1"])
    func `broken encoding makes the response invalid`(form: String) {
        #expect(throws: SignInFailure(.refused, "it is cut off or was changed")) { try Samples.response(form) }
    }

    // MARK: mix-up

    @Test(arguments: [("https://github.com/login/oauth", true), ("https://github.com/login/OAuth", false)])
    func `an answer may name the server as its profile says`(issuer: String, isTrusted: Bool) throws {
        var expected = Samples.expectation(requiresIssuer: true)
        expected.issuerAliases = ["https://github.com/login/oauth"]
        let verdict = try Samples.response("code=x&state=\(Samples.state)&iss=\(issuer)").verdict(against: expected)
        #expect(verdict == (isTrusted ? code("x") : Self.wrongIssuer))
    }

    @Test(arguments: [
        "https://evil.example", "https://sso.example.org/", "https://SSO.example.org", "http://sso.example.org", "",
    ])
    func `an answer that names another issuer is not trusted`(issuer: String) throws {
        let form = "code=x&state=\(Samples.state)&iss=\(issuer)"
        #expect(try verdict(form) == Self.wrongIssuer)
        #expect(try verdict("error=access_denied&state=\(Samples.state)&iss=\(issuer)") == Self.wrongIssuer)
    }

    @Test func `an answer that names our issuer is trusted`() throws {
        let form = "code=x&state=\(Samples.state)&iss=https%3A%2F%2Fsso.example.org"
        #expect(try verdict(form, requiresIssuer: true) == code("x"))
    }

    @Test func `a server that promises to name itself must do so`() throws {
        #expect(try verdict("code=x&state=\(Samples.state)", requiresIssuer: true) == Self.noIssuer)
        let both = "code=x&error=access_denied&state=\(Samples.state)"
        #expect(try verdict(both, requiresIssuer: true) == Self.noIssuer)
    }

    @Test func `an error counts without an issuer, too`() throws {
        let error = "error=access_denied&state=\(Samples.state)"
        #expect(try verdict(error, requiresIssuer: true) == .error(ErrorResponse(error: "access_denied")))
    }

    // MARK: codes and errors

    @Test func `a code together with an error is not trusted`() throws {
        #expect(try verdict("code=x&error=y&state=\(Samples.state)") == Self.codeAndError)
    }

    @Test func `an impossible code is not sent`() throws {
        #expect(try verdict("code=a%0Ab&state=\(Samples.state)") == Self.malformedCode)
        #expect(try verdict("code=%C3%A4&state=\(Samples.state)") == Self.malformedCode)
        let longest = String(repeating: "a", count: AuthorizationCode.bytesMax)
        #expect(try verdict("code=\(longest)&state=\(Samples.state)") == code(longest))
        #expect(try verdict("code=\(longest)a&state=\(Samples.state)") == Self.malformedCode)
    }

    @Test func `a too large response is not read`() throws {
        let filler = String(repeating: "a", count: AuthorizationResponse.bytesMax + 1)
        #expect(throws: SignInFailure(.refused, "it is longer than any answer")) { try Samples.response(filler) }
        let many = (0..<AuthorizationResponse.parametersMax).map { "p\($0)=" }.joined(separator: "&")
        #expect(throws: Never.self) { try Samples.response(many) }
        #expect(throws: SignInFailure(.refused, "it is longer than any answer")) { try Samples.response(many + "&q=") }
    }

    @Test func `an error has the server's text, safe for a terminal`() throws {
        let form = "error=access_denied&error_description=You%0Asaid%1B%5B31m+no&state=\(Samples.state)"
        let refusal = ErrorResponse(error: "access_denied", description: "You said [31m no")
        #expect(try verdict(form) == .error(refusal))
        #expect(refusal.failureKind == nil)
    }

    @Test(arguments: [
        ("access_denied", SignInFailure.Kind?.none), ("user_cancelled_login", nil),
        ("temporarily_unavailable", .unavailable), ("server_error", .unavailable),
        ("invalid_scope", .misconfigured), ("unauthorized_client", .misconfigured),
        ("consent_required", .refused), ("something_new", .refused),
    ])
    func `an error means what its code says`(error: String, kind: SignInFailure.Kind?) {
        #expect(ErrorResponse(error: error).failureKind == kind)
    }

    @Test func `a provider's own name for the code is accepted, and no other`() throws {
        var expected = Samples.expectation()
        expected.codeParameters = ["spapi_oauth_code"]
        let response = try Samples.response("spapi_oauth_code=x&state=\(Samples.state)")
        #expect(response.verdict(against: expected) == code("x"))
        let usual = try Samples.response("code=x&state=\(Samples.state)")
        #expect(usual.verdict(against: expected) == .refused(.noAnswer))
    }

    @Test func `parameters named by the profile are kept`() throws {
        var expected = Samples.expectation()
        expected.keptParameters = ["realmId", "absent"]
        let response = try Samples.response("code=x&state=\(Samples.state)&realmId=4620816365&other=1")
        let code = AuthorizationCode(Secret("x"), keptFields: ["realmId": "4620816365"])
        #expect(response.verdict(against: expected) == .code(code))
    }

    @Test func `a response is never printed by accident`() throws {
        let response = try Samples.response("code=sesame&state=\(Samples.state)")
        var dumped = ""
        dump(response, to: &dumped)
        for text in ["\(response)", "\([response])", String(reflecting: response), dumped] {
            #expect(!text.contains("sesame") && !text.contains(Samples.state), "\(text)")
        }
    }
}
