import Foundation
@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Providers with their own ways of refreshing: without refresh tokens, in the query, or with a question about the
/// lifetime.
struct RefreshFormTests {
    private func refresh(
        within limit: Duration = .seconds(20),
        _ change: (inout ProviderProfile, String) -> Void,
        _ script: @escaping LoopbackServer.Script
    ) async throws -> (outcome: RefreshOutcome, requests: [LoopbackServer.Request]) {
        try await withServer(script) { server in
            var profile = ProviderProfile(name: "test")
            change(&profile, server.origin)
            let registration = ClientRegistration(clientID: "client")
            let request = try refreshRequest(
                to: server.origin,
                registration: registration,
                profile: profile,
                token: "t+1"
            )
            let outcome = try await withClient({ $0.totalTimeout = limit }) { await $0.refresh(request) }
            return (outcome, server.requests)
        }
    }

    // MARK: redirect URIs in refreshes

    @Test(
        arguments: [("https://me.example/back", "https%3A%2F%2Fme.example%2Fback"), (nil, nil)] as [(String?, String?)]
    )
    func `the redirect URI is sent again if the provider wants it and it is fixed`(
        _ uri: String?,
        _ sent: String?
    ) async throws {
        let (_, requests) = try await refresh(
            { profile, _ in
                profile.refreshParameters = ["redirect_uri": "{redirect_uri}"]
                profile.signIn.redirectURI = uri
            },
            { _, _ in [LoopbackServer.json(200, issuedTokens)] }
        )
        let field = sent.map { "&redirect_uri=\($0)" } ?? ""
        #expect(requests.map(\.body) == ["grant_type=refresh_token&refresh_token=t%2B1\(field)&client_id=client"])
    }

    // MARK: access tokens instead of refresh tokens

    private static func asInstagramWants(_ profile: inout ProviderProfile, _: String) {
        profile.refreshForm.credential = .accessToken
        profile.refreshForm.grantType = "ig_refresh_token"
        profile.refreshForm.parameter = "access_token"
        profile.refreshForm.method = .get
    }

    @Test func `an access token is exchanged for the next, in the query if the provider wants that`() async throws {
        let (outcome, requests) = try await refresh(Self.asInstagramWants) { _, _ in
            [LoopbackServer.json(200, #"{"access_token":"t2","token_type":"bearer","expires_in":5183944}"#)]
        }
        let tokens = try outcome.result.get()
        #expect(tokens.accessToken?.secret == Secret("t2"))
        #expect(tokens.refreshToken?.secret == Secret("t2"))
        #expect(tokens.issuance.isRotated)
        #expect(tokens.issuance.refreshTokenLifetime == .seconds(5_183_944))
        #expect(requests.map(\.line) == ["GET /token?grant_type=ig_refresh_token&access_token=t%2B1&client_id=client"])
        #expect(requests.map(\.body) == [""])
    }

    @Test func `an unchanged token does not count as a new one`() async throws {
        let (outcome, _) = try await refresh(Self.asInstagramWants) { _, _ in
            [LoopbackServer.json(200, #"{"access_token":"t+1","expires_in":5183944}"#)]
        }
        #expect(try outcome.result.get().refreshToken == nil)
        #expect(try outcome.result.get().issuance.isRotated == false)
    }

    @Test(arguments: [LoopbackServer.Step.close, .reset])
    func `a token in a query without an answer may be spent`(_ step: LoopbackServer.Step) async throws {
        let (outcome, requests) = try await refresh(Self.asInstagramWants) { _, _ in [step] }
        #expect(outcome.failure?.failureClass == .unanswered)
        #expect(requests.count == 1)
    }

    // MARK: lifetimes that must be asked for (RFC 7662)

    /// Refreshes at a server whose token answers have these additional fields, and whose introspection endpoint answers
    /// so.
    private func introspect(
        _ rest: String,
        within limit: Duration = .seconds(20),
        _ answer: @escaping @Sendable () -> [LoopbackServer.Step]
    ) async throws -> (lifetime: Duration?, questions: [LoopbackServer.Request]) {
        let asked: (inout ProviderProfile, String) -> Void = { profile, origin in
            profile.introspectionEndpoint = Endpoint(origin + "/introspect")
            profile.defaultLifetime = Duration(written: "15m")
        }
        let (outcome, requests) = try await refresh(within: limit, asked) { request, _ in
            request.line == "POST /introspect"
                ? answer() : [LoopbackServer.json(200, #"{"access_token":"a2"\#(rest)}"#)]
        }
        return (try outcome.result.get().issuance.lifetime, requests.filter { $0.line == "POST /introspect" })
    }

    @Test func `the server is asked for the lifetime if the answer does not have it`() async throws {
        let end = Int64(Date.now.timeIntervalSince1970) + 7200
        let (lifetime, questions) = try await introspect("") {
            [LoopbackServer.json(200, #"{"active":true,"exp":\#(end)}"#)]
        }
        #expect(lifetime ?? .zero <= .seconds(7200) && lifetime ?? .zero > .seconds(7000))
        #expect(questions.map(\.fields["token"]) == [["a2"]])
        #expect(questions.map(\.fields["token_type_hint"]) == [["access_token"]])
    }

    @Test func `the server is not asked if the answer has the lifetime`() async throws {
        let (lifetime, questions) = try await introspect(#","expires_in":600"#) { [LoopbackServer.answer(500)] }
        #expect(lifetime == .seconds(600))
        #expect(questions.isEmpty)
    }

    @Test func `a new refresh token does not wait for the lifetime`() async throws {
        let (lifetime, questions) = try await introspect(#","refresh_token":"r2""#) { [LoopbackServer.answer(500)] }
        #expect(lifetime == .seconds(900))
        #expect(questions.isEmpty)
    }

    @Test(arguments: [
        #"{"active":false}"#, #"{"active":true}"#, #"{"active":true,"exp":1}"#, #"{"active":"true","exp":9999999999}"#,
        "<html>", "",
    ])
    func `without a lifetime in the answer the profile's is used`(_ body: String) async throws {
        let (lifetime, questions) = try await introspect("") { [LoopbackServer.json(200, body)] }
        #expect(lifetime == .seconds(900))
        #expect(questions.count == 1)
    }

    @Test(arguments: [[LoopbackServer.answer(403)], [LoopbackServer.answer(503)], [.close], []])
    func `a failed or unanswered question about the lifetime loses no token`(_ steps: [LoopbackServer.Step])
        async throws
    {
        #expect(try await introspect("", within: .seconds(2)) { steps }.lifetime == .seconds(900))
    }
}
