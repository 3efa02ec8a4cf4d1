import Basics
import Foundation
import TextEncodings
import Testing
import AuthRefreshInterface

@testable import authctl

@Suite struct AcquiredTokenTests {
    private func text(
        _ request: TokenRequest,
        token: String = "vF9dft4qmTc2Nvb3RlckBhdHRhdmlzdGEuY29tCg==",
        type: String = "Bearer",
        expiresAtUSec: Int64 = 1_799_999_999_999_999
    ) throws -> String {
        let object = JSONText.object([
            ("accessToken", JSONText.quote(token)), ("tokenType", JSONText.quote(type)),
            ("expiresAtUSec", String(expiresAtUSec)),
        ])
        return try AcquiredToken(reply: #require(JSONValue(object))).text(for: request)
    }

    /// The example from the description of XOAUTH2, with the two ^A at its end.
    @Test func `xoauth2 gives the bytes of Google's own example`() throws {
        let request = TokenRequest(account: "work", format: .xoauth2, user: "someuser@example.com")
        let expected = """
            dXNlcj1zb21ldXNlckBleGFtcGxlLmNvbQFhdXRoPUJlYXJlciB2RjlkZnQ0cW1UYzJOdmIzUmxja0JoZEhSaGRtbHpkR0V1WTI5dENn\
            PT0BAQ==

            """
        #expect(try text(request) == expected)
    }

    @Test func `oauthbearer has the form of RFC 7628 with the user's name escaped`() throws {
        let request = TokenRequest(account: "work", format: .oauthbearer, user: "a,b=c@example.com")
        let encoded = try text(request, token: "at-1").dropLast()
        let bytes = try #require(Data(base64Encoded: String(encoded)))
        #expect(String(decoding: bytes, as: UTF8.self) == "n,a=a=2Cb=3Dc@example.com,\u{1}auth=Bearer at-1\u{1}\u{1}")
    }

    @Test func `an account named like a mailbox needs no user`() throws {
        #expect(try TokenRequest(account: "you@example.org", format: .xoauth2).saslUser() == "you@example.org")
        #expect(try TokenRequest(account: "you@example.org", format: .xoauth2, user: "x").saslUser() == "x")
    }

    @Test(arguments: [nil, "", "a\u{1}auth=Bearer stolen", "a\nb", "a\u{7F}"] as [String?])
    func `a missing user, or one that would forge a field, is refused`(user: String?) {
        let error = #expect(throws: Report.self) {
            try TokenRequest(account: "work", format: .xoauth2, user: user).saslUser()
        }
        #expect(error?.status == .usage)
    }

    @Test(
        .enabled(if: CommandRun.has("bash", "dash", "zsh", "fish"), "a shell is not installed"),
        arguments: ["bash", "dash", "zsh", "fish"],
        [
            #"a'b$(touch x)`y`\ "z"#, #"\'; touch x; echo '"#, #"\"#, #"\\"#, #"'"#, #"a\"#, #"\a"#, #"'\''"#,
            #"x\\'"#, #"{a,b}*?~#!1%&"#,
        ]
    )
    func `the output of env is correct for a shell with any content`(shell: String, token: String) throws {
        let run = try CommandRun()
        defer { run.remove() }
        let lines = try text(TokenRequest(account: "work", format: .env), token: token)
        let script =
            lines + #"printf '%s|%s|%s|%s' "$AUTHREFRESH_ACCOUNT" "$AUTHREFRESH_ACCESS_TOKEN" "#
            + #""$AUTHREFRESH_TOKEN_TYPE" "$AUTHREFRESH_EXPIRES_AT""#
        try Data(script.utf8).write(to: run.folder.appendingPathComponent("script"))
        #expect(try run.run("\(shell) ./script").output == "work|\(token)|Bearer|1799999999")
        #expect(!FileManager.default.fileExists(atPath: run.folder.appendingPathComponent("x").path))
    }

    @Test(arguments: ["at\n1", "", "at\u{E9}", "at\u{0}"])
    func `a token that could forge a header or a line is not printed`(token: String) {
        #expect(throws: Report.unreadableReply) {
            try text(TokenRequest(account: "work"), token: token)
        }
    }
}
