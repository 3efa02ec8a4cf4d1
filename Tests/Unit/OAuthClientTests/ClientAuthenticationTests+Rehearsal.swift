import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Finding out the form of the secret before a refresh token can be lost.
extension ClientAuthenticationTests {
    private static let refusal = LoopbackServer.json(401, #"{"error":"invalid_client"}"#)

    /// The result of one refresh at a server whose token endpoint accepts only the raw secret.
    private func refresh(
        secret: String = ClientAuthenticationTests.secret,
        encoding: BasicCredentialEncoding? = nil,
        revocationEndpoint: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Step
    ) async throws -> (outcome: RefreshOutcome, requests: [LoopbackServer.Request]) {
        let header = ClientCredentials(
            registration: Self.registration(nil, secret: secret),
            method: .clientSecretBasic,
            encoding: .raw,
            repeatsClientID: false
        ).authorization
        let script: LoopbackServer.Script = { request, _ in
            guard request.line == "POST /token" else { return [revocationEndpoint(request)] }
            return [request.header("authorization") == header ? LoopbackServer.json(200, issuedTokens) : Self.refusal]
        }
        return try await withServer(script) { server in
            let outcome = try await withClient {
                await $0.refresh(
                    try refreshRequest(
                        to: server.origin,
                        registration: Self.registration(.clientSecretBasic, secret: secret),
                        encoding: encoding,
                        rehearses: true
                    )
                )
            }
            return (outcome, server.requests)
        }
    }

    @Test func `the form is found out with a made-up token, and the refresh token is sent once`() async throws {
        let (outcome, requests) = try await refresh {
            $0.header("authorization") == Self.rawHeader ? LoopbackServer.answer(200) : Self.refusal
        }
        #expect(outcome.response != nil)
        #expect(outcome.basicCredentialEncoding == .raw)
        #expect(requests.map(\.line) == ["POST /revoke", "POST /revoke", "POST /token"])
        #expect(requests.filter { $0.body.contains("sent-refresh-token") }.map(\.line) == ["POST /token"])
    }

    @Test func `an endpoint that accepts any secret proves nothing`() async throws {
        let (outcome, requests) = try await refresh { _ in LoopbackServer.answer(200) }
        #expect(outcome.basicCredentialEncoding == .raw)
        #expect(requests.map(\.line) == ["POST /revoke", "POST /token", "POST /token"])
    }

    @Test(arguments: [503, 404, 400])
    func `a revocation endpoint that fails does not prevent refreshes`(_ status: Int) async throws {
        let (outcome, requests) = try await refresh { _ in LoopbackServer.answer(status) }
        #expect(outcome.response != nil)
        #expect(requests.filter { $0.line == "POST /token" }.count == 2)
    }

    @Test func `no made-up token is sent when there is nothing to find out`() async throws {
        let known = try await refresh(encoding: .raw) { _ in LoopbackServer.answer(200) }
        #expect(known.requests.map(\.line) == ["POST /token"])
        let plain = try await refresh(secret: "plain") { _ in LoopbackServer.answer(200) }
        #expect(plain.requests.map(\.line) == ["POST /token"])
    }
}
