@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

struct TokenRequestTests {
    private func request(
        _ registration: ClientRegistration,
        profile: ProviderProfile? = nil,
        token: String = "sent-refresh-token"
    ) async throws -> LoopbackServer.Request {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let outcome = try await withClient {
                await $0.refresh(
                    try refreshRequest(to: server.origin, registration: registration, profile: profile, token: token)
                )
            }
            #expect(outcome.response != nil)
            return try #require(server.requests.first)
        }
    }

    @Test func `the bytes of RFC 6749 section 6 are reproduced`() async throws {
        let registration = ClientRegistration(clientID: "s6BhdRkqt3", clientSecret: Secret("gX1fBat3bV"))
        let request = try await request(registration, token: "tGzv3JOkF0XG5Qx2TlKWIA")
        #expect(request.line == "POST /token")
        #expect(request.body == "grant_type=refresh_token&refresh_token=tGzv3JOkF0XG5Qx2TlKWIA")
        #expect(request.header("authorization") == "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW")
        #expect(request.header("content-type") == "application/x-www-form-urlencoded")
        #expect(request.header("content-length") == "\(request.body.utf8.count)")
        #expect(request.header("transfer-encoding") == nil)
        #expect(request.header("accept") == "application/json")
    }

    @Test func `a refresh sends no scope, whatever the grant's scope is`() async throws {
        let request = try await request(ClientRegistration(clientID: "c", scopes: ["a", "offline_access"]))
        #expect(request.body == "grant_type=refresh_token&refresh_token=sent-refresh-token&client_id=c")
    }

    @Test func `extra parameters are sent in order of name, and the account's own are preferred`() async throws {
        var profile = ProviderProfile(name: "p")
        profile.refreshParameters = ["audience": "https://profile/", "b": "2"]
        let registration = ClientRegistration(
            clientID: "c",
            refreshParameters: ["audience": "https://own/", "resource": "urn:x y"]
        )
        let request = try await request(registration, profile: profile)
        #expect(request.body.contains("&audience=https%3A%2F%2Fown%2F&b=2&resource=urn%3Ax+y&client_id=c"))
    }

    @Test(arguments: ReservedParameter.names.sorted() + ["Grant_Type"])
    func `a reserved parameter is refused before anything is sent`(_ name: String) async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let registration = ClientRegistration(clientID: "c", refreshParameters: [name: "x"])
            let outcome = try await withClient {
                await $0.refresh(try refreshRequest(to: server.origin, registration: registration))
            }
            #expect(outcome.failure?.failureClass == .misconfigured)
            #expect(outcome.failure?.detail.oauthErrorDescription == name)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `the correlation id is sent only if the profile says so`() async throws {
        let registration = ClientRegistration(clientID: "c")
        #expect(try await request(registration).head.contains("correlation-1") == false)
        var profile = ProviderProfile(name: "p")
        profile.correlationHeader = "client-request-id"
        profile.headers = ["Origin": "http://localhost"]
        let request = try await request(registration, profile: profile)
        #expect(request.header("client-request-id") == "correlation-1")
        #expect(request.header("origin") == "http://localhost")
    }

    @Test func `the server's date is returned`() async throws {
        let answer = LoopbackServer.answer(200, ["date": "Sat, 21 Nov 2026 10:00:00 GMT"], issuedTokens)
        try await withServer({ _, _ in [answer] }) { server in
            let outcome = try await withClient { await $0.refresh(try refreshRequest(to: server.origin)) }
            #expect(outcome.serverDate == Timestamp(microseconds: 1_795_255_200_000_000))
        }
    }

    @Test func `token and secret are removed from text that the server repeats`() async throws {
        let echo = #"{"error":"invalid_grant","error_description":"bad sent-refresh-token for s3cret-text"}"#
        try await withServer({ _, _ in [LoopbackServer.json(400, echo)] }) { server in
            let registration = ClientRegistration(clientID: "c", clientSecret: Secret("s3cret-text"))
            let outcome = try await withClient {
                await $0.refresh(try refreshRequest(to: server.origin, registration: registration))
            }
            #expect(outcome.failure?.detail.oauthErrorDescription == "bad <redacted> for <redacted>")
            #expect(!String(describing: outcome).contains("sent-refresh-token"))
        }
    }

    @Test func `tokens do not show when an outcome is printed`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let outcome = try await withClient { await $0.refresh(try refreshRequest(to: server.origin)) }
            var text = ""
            dump(outcome, to: &text)
            #expect(text.contains("redacted"))
            #expect(!text.contains("a1") && !text.contains("r2"))
        }
    }
}
