@testable import RefreshCore
import Testing
import TextEncodings
import Yams

@testable import OAuthClient
@testable import OAuthMessages

struct RevocationTests {
    private func revoke(
        _ script: @escaping LoopbackServer.Script,
        refreshToken: String? = "r1",
        accessToken: String? = nil,
        hasEndpoint: Bool = true
    ) async throws -> (failure: RevocationError?, requests: [LoopbackServer.Request]) {
        try await withServer(script) { server in
            var profile = ProviderProfile(name: "p", tokenEndpoint: Endpoint(server.origin + "/token"))
            profile.revocationEndpoint = hasEndpoint ? Endpoint(server.origin + "/revoke") : nil
            profile.revocationParameters = ["extra": "e"]
            let request = RevocationRequest(
                client: try requestingClient(
                    at: server.origin,
                    registration: ClientRegistration(clientID: "c"),
                    profile: profile
                ),
                refreshToken: refreshToken.map { RefreshToken(Secret($0)) },
                accessToken: accessToken.map { AccessToken(Secret($0)) }
            )
            let result = try await withClient { await $0.revoke(request) }
            switch result {
            case .success: return (nil, server.requests)
            case .failure(let failure): return (failure, server.requests)
            }
        }
    }

    @Test func `the refresh token is revoked first, then the access token`() async throws {
        let (failure, requests) = try await revoke({ _, _ in [LoopbackServer.answer(200)] }, accessToken: "a1")
        #expect(failure == nil)
        #expect(
            requests.map(\.body) == [
                "token=r1&token_type_hint=refresh_token&extra=e&client_id=c",
                "token=a1&token_type_hint=access_token&extra=e&client_id=c",
            ]
        )
        #expect(requests.allSatisfy { $0.line == "POST /revoke" })
    }

    /// GitHub's form: only the access token, in a JSON body of a DELETE, from a client that authenticates with Basic
    /// only there.
    private func revokeInOwnForm(
        accessToken: String?,
        _ step: LoopbackServer.Step = LoopbackServer.answer(204)
    ) async throws -> (result: Result<Void, RevocationError>, requests: [LoopbackServer.Request]) {
        try await withServer({ _, _ in [step] }) { server in
            let yaml = """
                name: p
                token_endpoint: \(server.origin)/token
                authentication: client_secret_post
                revocation_endpoint: \(server.origin)/applications/{client_id}/grant
                revocation_method: delete
                revocation_token: access_token
                revocation_token_parameter: access_token
                revocation_format: json
                revocation_authentication: client_secret_basic
                """
            let profile = try YAMLDecoder().decode(ProviderProfile.self, from: yaml)
            let registration = ClientRegistration(clientID: "c", clientSecret: Secret("s"))
            let request = RevocationRequest(
                client: try requestingClient(at: server.origin, registration: registration, profile: profile),
                refreshToken: RefreshToken(Secret("r1")),
                accessToken: accessToken.map { AccessToken(Secret($0)) }
            )
            return (try await withClient { await $0.revoke(request) }, server.requests)
        }
    }

    @Test func `a provider's own form of revocation is used`() async throws {
        let (result, requests) = try await revokeInOwnForm(accessToken: "a1")
        #expect(throws: Never.self) { try result.get() }
        #expect(requests.map(\.line) == ["DELETE /applications/c/grant"])
        #expect(requests.map(\.body) == [#"{"access_token":"a1"}"#])
        #expect(requests.first?.header("authorization") == "Basic " + Base64.encode("c:s"))
    }

    @Test func `nothing is sent if the token that would end the grant is missing`() async throws {
        let (result, requests) = try await revokeInOwnForm(accessToken: nil)
        guard case .failure(.failed(let failure)) = result else { return #expect(Bool(false), "\(result)") }
        #expect(failure.failureClass == .misconfigured)
        #expect(requests.isEmpty)
    }

    @Test func `at a provider with its own form, an unknown token means that nothing was revoked`() async throws {
        let answer = LoopbackServer.json(404, #"{"message":"Not Found"}"#)
        let (result, _) = try await revokeInOwnForm(accessToken: "a1", answer)
        #expect(throws: RevocationError.self) { try result.get() }
    }

    @Test func `a server without a revocation endpoint is reported as unsupported`() async throws {
        let (failure, requests) = try await revoke({ _, _ in [LoopbackServer.answer(200)] }, hasEndpoint: false)
        #expect(failure == .unsupported)
        #expect(requests.isEmpty)
    }

    @Test func `503 means still valid, and the access token is left alone`() async throws {
        let answer = LoopbackServer.answer(503, ["retry-after": "20"])
        let (failure, requests) = try await revoke({ _, _ in [answer] }, accessToken: "a1")
        #expect(failure == .stillValid(retryAfter: .seconds(20)))
        #expect(requests.count == 1)
    }

    @Test func `a revocation succeeds although the server does not revoke access tokens`() async throws {
        let (failure, _) = try await revoke(
            { _, index in
                [
                    index == 0
                        ? LoopbackServer.answer(200) : LoopbackServer.json(400, #"{"error":"unsupported_token_type"}"#)
                ]
            },
            accessToken: "a1"
        )
        #expect(failure == nil)
    }

    @Test func `a server that does not revoke refresh tokens does not support it`() async throws {
        let (failure, _) = try await revoke { _, _ in [LoopbackServer.json(400, #"{"error":"unsupported_token_type"}"#)]
        }
        #expect(failure == .unsupported)
    }

    @Test func `a grant that has ended already counts as revoked`() async throws {
        let (failure, _) = try await revoke { _, _ in [LoopbackServer.json(400, #"{"error":"invalid_grant"}"#)] }
        #expect(failure == nil)
    }

    @Test func `an access token that was not revoked is reported`() async throws {
        let (failure, _) = try await revoke(
            { _, index in index == 0 ? [LoopbackServer.answer(200)] : [.close] },
            accessToken: "a1"
        )
        guard case .accessTokenNotRevoked(let cause)? = failure else {
            return #expect(Bool(false), "\(failure as Any)")
        }
        #expect(cause.failureClass == .unanswered)
    }

    @Test(arguments: [
        (LoopbackServer.json(401, #"{"error":"invalid_client"}"#), FailureClass.misconfigured),
        (.close, .unanswered),
        (LoopbackServer.answer(200, ["content-type": "text/html"], "<html>portal</html>"), .unanswered),
        (LoopbackServer.answer(500), .unanswered),
        (LoopbackServer.json(200, #"{"ok":false,"error":"odd"}"#), .rejected),
    ])
    func `after any other answer the token counts as valid`(_ step: LoopbackServer.Step, _ expected: FailureClass)
        async throws
    {
        let (failure, _) = try await revoke { _, _ in [step] }
        guard case .failed(let cause)? = failure else { return #expect(Bool(false), "\(failure as Any)") }
        #expect(cause.failureClass == expected)
    }
}
