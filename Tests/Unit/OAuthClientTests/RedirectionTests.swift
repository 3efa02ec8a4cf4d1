@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Endpoints that redirect the client: nothing that is meant for one server may reach another (RFC 9700 §4.12).
struct RedirectionTests {
    /// The kind of request, and the endpoint to which it goes.
    enum Errand: String, CaseIterable, Sendable {
        case refresh, code, device, poll, revocation, pushedRequest
    }

    private static let registration = ClientRegistration(
        clientID: "client",
        authentication: .clientSecretPost,
        clientSecret: Secret("client-secret")
    )

    /// Sends `errand` to an endpoint that redirects to `location` with `status`.
    ///
    /// - Returns: whether it succeeded, and how many requests the endpoint's server received.
    private func run(_ errand: Errand, _ status: Int, to location: String) async throws -> (ok: Bool, requests: Int) {
        let script: LoopbackServer.Script = { _, _ in [LoopbackServer.answer(status, ["location": location])] }
        return try await withServer(script) { server in
            var profile = ProviderProfile(name: "test", tokenEndpoint: Endpoint(server.origin + "/token"))
            profile.revocationEndpoint = Endpoint(server.origin + "/revoke")
            profile.endpoints.authorization = Endpoint(server.origin + "/authorize")
            profile.endpoints.deviceAuthorization = Endpoint(server.origin + "/device")
            profile.endpoints.pushedAuthorizationRequest = Endpoint(server.origin + "/par")
            profile.authentication = .clientSecretPost
            let client = try requestingClient(at: server.origin, registration: Self.registration, profile: profile)
            let ok = try await withClient { await Self.send(errand, as: client, by: $0) }
            return (ok, server.requests.count)
        }
    }

    private static func send(_ errand: Errand, as client: RequestingClient, by oauth: OAuthClient) async -> Bool {
        switch errand {
        case .refresh:
            let request = RefreshRequest(client: client, refreshToken: RefreshToken(Secret("r1")))
            return await oauth.refresh(request).response != nil
        case .code:
            let request = CodeExchange(
                client: client,
                code: Secret("code-1"),
                redirectURI: "http://127.0.0.1:1234/",
                codeVerifier: Secret(exampleVerifier)
            )
            return await oauth.codes.exchange(request).grant != nil
        case .device:
            return (try? await oauth.devices.authorize(client).get()) != nil
        case .poll:
            guard case .failed = await oauth.devices.poll(Secret("d1"), as: client) else {
                return true
            }
            return false
        case .revocation:
            let request = RevocationRequest(client: client, refreshToken: RefreshToken(Secret("r1")))
            return (try? await oauth.revoke(request).get()) != nil
        case .pushedRequest:
            let request = AuthorizationRequest(
                client: client,
                redirectURI: "http://127.0.0.1:1234/",
                state: Secret("state-1"),
                codeVerifier: Secret(exampleVerifier)
            )
            return (try? await oauth.browser.authorizationURL(for: request).get().url.contains("request_uri=")) == true
        }
    }

    @Test(arguments: Errand.allCases, [301, 302, 303, 307, 308])
    func `no credential follows a redirect to another server`(_ errand: Errand, _ status: Int) async throws {
        let issued =
            #"{"access_token":"a1","token_type":"Bearer","refresh_token":"r2","request_uri":"urn:x","expires_in":9}"#
        try await withServer({ _, _ in [LoopbackServer.json(200, issued)] }) { thief in
            let outcome = try await run(errand, status, to: thief.origin + "/token")
            #expect(!outcome.ok)
            #expect(outcome.requests == 1)
            #expect(thief.requests.isEmpty)
        }
    }

    @Test(arguments: ["/.well-known/openid-configuration", "/keys"])
    func `neither metadata nor keys are accepted from the target of a redirect`(_ path: String) async throws {
        let signer = TestSigner()
        let claims: @Sendable (String) -> String? = { try? signer.token(TestSigner.claims($0)) }
        try await withServer(signInServer(signer) { _, _ in nil }) { thief in
            let script = signInServer(signer) { request, _ in
                if request.line == "GET " + path {
                    return LoopbackServer.answer(302, ["location": thief.origin + path])
                }
                guard request.line == "POST /token" else { return nil }
                return LoopbackServer.json(200, #"{"access_token":"a1","id_token":"\#(claims(request.origin) ?? "")"}"#)
            }
            try await withServer(script) { server in
                let outcome = try await withClient { await $0.codes.exchange(try codeExchange(at: server.origin)) }
                #expect(outcome.grant == nil)
                #expect(thief.requests.isEmpty)
                #expect(server.requests.allSatisfy { $0.line != "POST /token" })
            }
        }
    }
}
