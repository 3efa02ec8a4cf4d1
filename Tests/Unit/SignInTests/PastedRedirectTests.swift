import RefreshCore
import Testing

@testable import authrefreshd

/// Text that people paste.
@Suite struct PastedRedirectTests {
    private typealias Samples = SignInSamples

    private func verdict(
        _ text: String,
        requiresIssuer: Bool = false,
        isCodeBound: Bool = true,
        path: String? = nil
    ) throws -> AuthorizationVerdict {
        var expected = Samples.expectation(requiresIssuer: requiresIssuer, isCodeBound: isCodeBound)
        expected.path = path
        return try AuthorizationResponse(pasted: text).verdict(against: expected)
    }

    private static let answer = "code=4/0Ab:c&state=\(SignInSamples.state)"

    @Test(arguments: [
        "http://127.0.0.1:1234/callback?\(answer)", "http://127.0.0.1:1234/callback?\(answer)#", "?\(answer)", answer,
        "https://me.example/relay#\(answer)", "org.example.app:/callback?\(answer)",
        "  http://127.0.0.1:1234/callback?\(answer.dropLast(3))\n  \(answer.suffix(3)) \r\n",
        "state=\(SignInSamples.state)&code=4/0Ab:c", "4/0Ab:c#\(SignInSamples.state)",
        "http://127.0.0.1/callback?\(answer)#_=_", "io.authrefresh:https://me.example/relay?\(answer)",
        "IO.AuthRefresh:https://me.example/relay#\(answer)",
    ])
    func `an address, its parameters, or code and state give the code`(text: String) throws {
        #expect(try verdict(text) == .code(AuthorizationCode(Secret("4/0Ab:c"))))
    }

    @Test func `an error after the number sign is read`() throws {
        let text = "https://me.example/relay#error=access_denied&state=\(Samples.state)"
        #expect(try verdict(text) == .error(ErrorResponse(error: "access_denied")))
    }

    @Test(arguments: ["4/0Ab:c", "SplxlOBeZQQYbYS6WxSbIA==", "a=b", "M.C507_BAY.2.U.x-y!z$$"])
    func `a code alone is enough where PKCE binds it to this sign-in`(text: String) throws {
        #expect(try verdict(text) == .code(AuthorizationCode(Secret(text))))
        #expect(try verdict(text, isCodeBound: false) == .refused(.needsWholeAddress))
        #expect(try verdict(text, requiresIssuer: true) == .refused(.needsWholeAddress))
    }

    @Test func `another sign-in's state is refused in every form`() throws {
        #expect(try verdict("code#other") == .refused(.wrongState))
        #expect(try verdict("code#") == .refused(.wrongState))
        #expect(try verdict("http://127.0.0.1:1/callback?code=x&state=other") == .refused(.wrongState))
        #expect(try verdict("http://127.0.0.1:1/callback") == .refused(.wrongState))
    }

    @Test func `the address that opened the browser is not an answer`() throws {
        let text = "https://sso.example.org/authorize?response_type=code&state=\(Samples.state)"
        #expect(try verdict(text) == .refused(.noAnswer))
    }

    @Test(arguments: [
        "http://127.0.0.1:1234/callback/me?\(answer)", "org.example.app:/callback/me?\(answer)",
        "org.example.app:/callback/me#\(answer)",
    ])
    func `an answer at the issuer's own path is accepted`(text: String) throws {
        #expect(try verdict(text, path: "/callback/me") == .code(AuthorizationCode(Secret("4/0Ab:c"))))
    }

    @Test(arguments: [
        "http://127.0.0.1:1234/callback?\(answer)", "org.example.app:/callback/you?\(answer)", "x:/?\(answer)",
    ])
    func `an answer at another issuer's path is refused, even with the right state`(text: String) throws {
        #expect(try verdict(text, path: "/callback/me") == .refused(.wrongPath))
    }

    @Test(arguments: ["4/0Ab:c", answer, "?\(answer)", "4/0Ab:c#\(SignInSamples.state)"])
    func `an answer without its address is refused if the path identifies the issuer`(text: String) throws {
        #expect(try verdict(text, path: "/callback/me") == .refused(.needsWholeAddress))
    }

    @Test(arguments: ["", " \n\t"])
    func `an empty text is not an answer`(text: String) {
        #expect(throws: SignInFailure(.refused, "it is empty")) { try AuthorizationResponse(pasted: text) }
    }

    @Test func `a too long text is not read`() {
        let text = String(repeating: "a", count: AuthorizationResponse.bytesMax + 1)
        let failure = SignInFailure(.refused, "it is longer than any answer")
        #expect(throws: failure) { try AuthorizationResponse(pasted: text) }
    }

    @Test func `a text that cannot be a code is not an answer`() throws {
        #expect(try verdict("gr\u{fc}n") == .refused(.noAnswer))
    }
}
