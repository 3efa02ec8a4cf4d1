import AccountStorage
import AuthRefreshInterface
import DemoIssuer
@testable import RefreshCore
import TestSupport
import Testing

@testable import Varlink
@testable import authrefreshd

struct PlainAcquireTokenTests {
    private static let issued = Moment(
        wall: Timestamp(microseconds: 1_000_000_000),
        boot: BootTime(bootID: 1, microseconds: 0)
    )

    /// A map with the account "work" and a token for an hour.
    private func tokens(_ token: AccessToken = AccessToken(Secret("at/1~-._+="))) throws -> TokenMap {
        let account = Account(
            name: try #require(AccountName("work")),
            issuer: try Issuer(url: "https://as.example.org"),
            registration: ClientRegistration(clientID: "app")
        )
        let times = AccessTokenTimes(issuedAt: Self.issued, lifetime: .seconds(3600), refreshAfter: .seconds(2400))
        let state = RefreshState(phase: .scheduled, accessToken: times)
        let tokens = TokenMap()
        tokens.put(try #require(TokenMap.Entry(account, state, token, at: Self.issued)), isUsed: false)
        return tokens
    }

    private func answer(
        _ tokens: TokenMap,
        to parameters: String,
        method: String = "AcquireToken",
        after: Duration = .zero
    ) -> String? {
        let message = #"{"method":"io.authrefresh.\#(method)","parameters":\#(parameters)}"#
        guard let call = VarlinkCall(message: Array(message.utf8), limits: ServerLimits()) else { return nil }
        return PlainAcquireToken(call)?.answer(from: tokens, at: Self.issued.later(after)).map {
            String(decoding: $0.reply, as: UTF8.self)
        }
    }

    @Test(arguments: [("at/1~-._+=", "Bearer"), ("a/b", "bearer"), ("x", "DPoP")])
    func `the answer has the bytes that the encoder writes`(token: String, scheme: String) throws {
        let token = AccessToken(Secret(token), type: scheme)
        let bytes = try #require(answer(tokens(token), to: #"{"account":"work","minimumValiditySec":60}"#))
        let reply = AcquireToken.Reply(
            accessToken: token.secret.reveal(),
            tokenType: token.scheme,
            expiresAtUSec: (Self.issued.wall + .seconds(3600)).microseconds
        )
        #expect(VarlinkReply(encoded: Array(bytes.utf8)) == VarlinkReply(reply))
    }

    @Test(arguments: [("BEARER", "Bearer"), ("dpop", "DPoP"), ("mac", "mac")])
    func `a known type is written as its RFC writes it, in whatever case the server wrote it`(
        type: String,
        scheme: String
    ) {
        #expect(AccessToken(Secret("a"), type: type).scheme == scheme)
    }

    @Test(arguments: [
        #"{"account":"home"}"#, #"{"account":"work","force":false}"#, #"{"account":"work","account":"work"}"#,
        #"{"account":"work","minimumValiditySec":-1}"#, #"{"account":"work","minimumValiditySec":31557601}"#,
        #"{"account":"work","minimumValiditySec":1.5}"#, #"{"account":7}"#, "{}",
    ])
    func `anything except a plain call for a stored token is left to the coordinator`(parameters: String) throws {
        #expect(try answer(tokens(), to: parameters) == nil)
    }

    @Test func `a name with escapes is the same name`() throws {
        #expect(try answer(tokens(), to: #"{"acc\u006funt":"w\u006frk"}"#) != nil)
    }

    @Test func `no other method is answered`() throws {
        #expect(try answer(tokens(), to: #"{"account":"work"}"#, method: "ReportRejected") == nil)
    }

    @Test func `a token with too little validity is left to the coordinator`() throws {
        let tokens = try tokens()
        let asked = #"{"account":"work","minimumValiditySec":600}"#
        #expect(answer(tokens, to: asked, after: .seconds(3000)) != nil)
        #expect(answer(tokens, to: asked, after: .seconds(3001)) == nil)
        #expect(answer(tokens, to: #"{"account":"work"}"#, after: .seconds(3600)) == nil)
    }

    @Test(arguments: [("a\"b", "Bearer"), ("a\\b", "Bearer"), ("ä", "Bearer"), ("a\u{7F}", "Bearer"), ("a", "B\n")])
    func `a token that needs escapes is left to the coordinator`(token: String, scheme: String) throws {
        let tokens = try tokens(AccessToken(Secret(token), type: scheme))
        #expect(answer(tokens, to: #"{"account":"work"}"#) == nil)
    }

    @Test func `a token is returned until the sign-out, and never after it`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            _ = await rig.waitForToken(of: id)
            let coordinator = rig.coordinator
            let now = { try rig.clock.timebase().now() }
            #expect(try coordinator.tokens.find("work", at: now()) != nil)
            try await rig.inside { try $0.eraseTokens(of: id) }
            #expect(try coordinator.tokens.find("work", at: now()) == nil)
            await rig.stop()
        }
    }
}
