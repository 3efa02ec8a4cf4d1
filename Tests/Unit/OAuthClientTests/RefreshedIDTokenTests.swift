import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// The ID token that comes with a refresh (OpenID Connect Core §12.2).
struct RefreshedIDTokenTests {
    private func refresh(
        _ claims: [String: JSONTree],
        algorithm: String = "ES256",
        subject: String? = "alice"
    ) async throws -> RefreshOutcome {
        let signer = TestSigner()
        let script: LoopbackServer.Script = { request, _ in
            let token = try? signer.token(TestSigner.claims(request.origin, claims), algorithm: algorithm)
            let body = #"{"access_token":"a2","refresh_token":"r2","expires_in":60,"id_token":"\#(token ?? "")"}"#
            return [LoopbackServer.json(200, body)]
        }
        return try await withServer(script) { server in
            try await withClient { client in
                var request = try refreshRequest(to: server.origin)
                request.subject = subject
                return await client.refresh(request)
            }
        }
    }

    @Test func `an ID token of the same user at the same issuer is kept`() async throws {
        let outcome = try await refresh([:])
        #expect(outcome.response?.idToken != nil)
        #expect(outcome.response?.issuance.person == .own)
        #expect(outcome.idTokenFault == nil)
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let what: String
        let claims: [String: JSONTree]
        var algorithm = "ES256"
        var testDescription: String { what }
    }

    @Test(arguments: [
        Change(what: "another issuer", claims: ["iss": .string("https://evil.example")]),
        Change(what: "another client", claims: ["aud": .string("other")]),
        Change(what: "no signature", claims: [:], algorithm: "none"),
        Change(what: "no subject", claims: ["sub": .null]),
    ])
    func `a wrong ID token is left out and reported, and the tokens are kept`(_ change: Change) async throws {
        let outcome = try await refresh(change.claims, algorithm: change.algorithm)
        let response = try #require(outcome.response)
        #expect(response.accessToken?.secret == Secret("a2"))
        #expect(response.refreshToken?.secret == Secret("r2"))
        #expect(response.idToken == nil)
        #expect(outcome.idTokenFault?.isEmpty == false)
    }

    @Test func `tokens of another user are kept, and the user is named`() async throws {
        let outcome = try await refresh(["sub": .string("u-2"), "email": .string("mallory@example.org")])
        let response = try #require(outcome.response)
        #expect(response.refreshToken?.secret == Secret("r2"))
        #expect(response.issuance.person == .other("mallory@example.org"))
        #expect(response.idToken == nil && outcome.person == nil && outcome.idTokenFault == nil)
    }

    @Test func `without a known subject the ID token says whose grant it is`() async throws {
        let outcome = try await refresh(["sub": .string("anybody")], subject: nil)
        #expect(outcome.response?.idToken != nil)
        #expect(outcome.response?.issuance.person == .nobody)
        #expect(outcome.person?.subject == "anybody")
        #expect(outcome.idTokenFault == nil)
    }

    @Test func `without a known subject an ID token for another client names nobody`() async throws {
        let outcome = try await refresh(["aud": .string("other")], subject: nil)
        #expect(outcome.response != nil && outcome.person == nil && outcome.idTokenFault == nil)
    }
}
