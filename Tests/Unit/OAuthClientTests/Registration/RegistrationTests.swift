import Foundation
@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Registering clients (RFC 7591, RFC 7592).
struct RegistrationTests {
    private static func server(
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Step
    ) -> LoopbackServer.Script {
        { request, _ in
            let origin = request.origin
            guard request.line == "GET /.well-known/openid-configuration" else {
                return [request.line.hasPrefix("GET") ? LoopbackServer.answer(404) : answer(request)]
            }
            return [
                LoopbackServer.json(
                    200,
                    """
                    {"issuer":"\(origin)","token_endpoint":"\(origin)/token","registration_endpoint":"\(origin)/register",
                    "end_session_endpoint":"\(origin)/end?x=1"}
                    """
                )
            ]
        }
    }

    private func register(
        _ status: Int,
        _ body: @escaping @Sendable (String) -> String,
        _ change: @escaping @Sendable (inout RegistrationRequest) -> Void = { _ in }
    ) async throws -> (result: Result<ClientRegistration, RefreshFailure>, sent: [LoopbackServer.Request]) {
        try await withServer(Self.server { LoopbackServer.json(status, body($0.origin)) }) { server in
            try await withClient { client in
                var request = RegistrationRequest(
                    client: try requestingClient(at: server.origin, registration: ClientRegistration(clientID: "")),
                    clientName: "authrefreshd",
                    redirectURIs: ["http://127.0.0.1/"]
                )
                change(&request)
                let result = await client.registrar.register(request)
                return (result, server.requests.filter { $0.line == "POST /register" })
            }
        }
    }

    @Test func `a client is registered with its own metadata`() async throws {
        let (result, sent) = try await register(
            201,
            {
                """
                {"client_id":"c1","client_secret":"s1","client_secret_expires_at":2000000000,"scope":"openid mail",
                "token_endpoint_auth_method":"client_secret_post","registration_access_token":"rat",
                "registration_client_uri":"\($0)/register/c1"}
                """
            },
            {
                $0.authentication = .clientSecretBasic
                $0.scopes = ["openid"]
                $0.softwareID = "id-1"
                $0.softwareVersion = "1"
                $0.postLogoutRedirectURIs = ["http://127.0.0.1/out"]
                $0.initialAccessToken = Secret("initial")
                $0.keySet = #"{"keys":[]}"#
            }
        )
        let client = try result.get()
        #expect(client.clientID == "c1")
        #expect(client.clientSecret == Secret("s1"))
        #expect(client.authentication == .clientSecretPost)
        #expect(client.scopes == ["openid", "mail"])
        #expect(client.clientSecretExpiresAt == Timestamp(microseconds: 2_000_000_000_000_000))
        #expect(client.management?.accessToken == Secret("rat"))
        #expect(client.management?.uri.hasSuffix("/register/c1") == true)
        let request = try #require(sent.first)
        #expect(sent.count == 1)
        #expect(request.header("authorization") == "Bearer initial")
        #expect(request.header("content-type") == "application/json")
        let document = try JSONDecoder().decode(JSONTree.self, from: Data(request.body.utf8))
        #expect(
            document
                == .object([
                    "client_name": .string("authrefreshd"), "application_type": .string("native"),
                    "redirect_uris": .array([.string("http://127.0.0.1/")]),
                    "grant_types": .array([.string("authorization_code"), .string("refresh_token")]),
                    "response_types": .array([.string("code")]),
                    "token_endpoint_auth_method": .string("client_secret_basic"), "scope": .string("openid"),
                    "software_id": .string("id-1"), "software_version": .string("1"),
                    "post_logout_redirect_uris": .array([.string("http://127.0.0.1/out")]),
                    "jwks": .object(["keys": .array([])]),
                ])
        )
    }

    @Test(arguments: [
        (#","client_secret":"s","id_token_signed_response_alg":"HS256""#, "HS256"),
        (#","id_token_signed_response_alg":"ES256""#, "ES256"), (#","id_token_signed_response_alg":"none""#, "RS256"),
        (#","id_token_signed_response_alg":"HS256""#, "RS256"), ("", "RS256"),
    ])
    func `the ID token algorithm is the registered one, or else the requested one`(
        said: String,
        algorithm: String
    ) async throws {
        let (result, sent) = try await register(
            201,
            { _ in #"{"client_id":"c1"\#(said)}"# },
            { $0.idTokenAlgorithm = "RS256" }
        )
        #expect(try result.get().idTokenAlgorithm == algorithm)
        #expect(try #require(sent.first).body.contains(#""id_token_signed_response_alg":"RS256""#))
    }

    @Test func `an answer with a client id only means a public client that cannot be managed`() async throws {
        let (result, _) = try await register(200, { _ in #"{"client_id":"c1","client_secret_expires_at":0}"# })
        let client = try result.get()
        #expect(client.clientSecret == nil)
        #expect(client.clientSecretExpiresAt == nil)
        #expect(client.management == nil)
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_redirect_uri"}"#), (401, ""), (201, "{}"), (201, #"{"client_id":""}"#),
        (403, #"{"error":"access_denied","error_description":"initial is wrong"}"#),
    ])
    func `a refusal is reported without the token`(_ status: Int, _ body: String) async throws {
        let (result, sent) = try await register(status, { _ in body }, { $0.initialAccessToken = Secret("initial") })
        let failure = #expect(throws: RefreshFailure.self) { try result.get() }
        #expect(!String(describing: failure).contains("initial is"))
        #expect(sent.count == 1)
    }

    /// Registers at a server that offers device codes and answers by `answer`; returns the metadata that were sent.
    private func register(
        at answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Step
    ) async throws -> (result: Result<ClientRegistration, RefreshFailure>, sent: [String]) {
        try await withServer({ request, _ in
            let origin = request.origin
            guard request.line == "GET /.well-known/openid-configuration" else { return [answer(request)] }
            return [
                LoopbackServer.json(
                    200,
                    """
                    {"issuer":"\(origin)","token_endpoint":"\(origin)/token","registration_endpoint":"\(origin)/register",
                    "authorization_endpoint":"\(origin)/authorize","device_authorization_endpoint":"\(origin)/device"}
                    """
                )
            ]
        }) { server in
            try await withClient { client in
                let request = RegistrationRequest(
                    client: try requestingClient(at: server.origin, registration: ClientRegistration(clientID: "")),
                    clientName: "authrefreshd",
                    redirectURIs: ["http://127.0.0.1:61001/", "http://[::1]:61001/"]
                )
                let result = await client.registrar.register(request)
                return (result, server.requests.filter { $0.line == "POST /register" }.map(\.body))
            }
        }
    }

    private static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    @Test func `a client asks for device codes if the server has them`() async throws {
        let (result, sent) = try await register { _ in LoopbackServer.json(201, #"{"client_id":"c1"}"#) }
        #expect(try result.get().clientID == "c1")
        #expect(sent.count == 1 && sent[0].contains(Self.deviceGrant) && sent[0].contains("[::1]"))
    }

    @Test(arguments: [(deviceGrant, "invalid_client_metadata", 2), ("[::1]", "invalid_redirect_uri", 2)])
    func `what the server does not take is left out`(word: String, error: String, count: Int) async throws {
        let (result, sent) = try await register { request in
            request.body.contains(word)
                ? LoopbackServer.json(400, #"{"error":"\#(error)"}"#) : LoopbackServer.json(201, #"{"client_id":"c1"}"#)
        }
        #expect(try result.get().clientID == "c1")
        #expect(sent.count == count && !sent[count - 1].contains(word))
    }

    @Test(arguments: [
        LoopbackServer.answer(200, ["content-type": "text/html"], "<html><form>New app</form></html>"),
        LoopbackServer.answer(405, ["content-type": "text/html"], "<!doctype html><p>method not allowed"),
        LoopbackServer.answer(302, ["location": "/sign-in"]),
    ])
    func `a registration endpoint that is a page for people is named`(_ answer: LoopbackServer.Step) async throws {
        let (result, _) = try await register { _ in answer }
        let failure = #expect(throws: RefreshFailure.self) { try result.get() }
        #expect(failure?.detail.finding == .registrationPage)
        #expect(failure?.detail.oauthErrorDescription?.hasSuffix("/register") == true)
    }

    private func delete(_ answer: LoopbackServer.Step) async throws -> Result<Void, RefreshFailure> {
        try await withServer(Self.server { _ in answer }) { server in
            try await withClient { client in
                let result = await client.registrar.deregister(
                    RegistrationManagement(uri: server.origin + "/register/c1", accessToken: Secret("rat")),
                    of: RequestingClient(
                        issuer: try Issuer(url: server.origin),
                        registration: ClientRegistration(clientID: "c1"),
                        correlationID: "correlation-1"
                    )
                )
                let request = try #require(server.requests.first)
                #expect(request.line == "DELETE /register/c1")
                #expect(request.header("authorization") == "Bearer rat")
                return result
            }
        }
    }

    @Test(arguments: [LoopbackServer.answer(204), LoopbackServer.answer(401), LoopbackServer.answer(404)])
    func `a registration is deleted, or did not exist any more`(_ answer: LoopbackServer.Step) async throws {
        await #expect(throws: Never.self) { try await self.delete(answer).get() }
    }

    @Test(arguments: [
        LoopbackServer.answer(503), LoopbackServer.answer(200, [:], "<html>portal</html>"),
        LoopbackServer.json(405, #"{"error":"unsupported"}"#), .close,
    ])
    func `after any other answer the client stays registered`(_ answer: LoopbackServer.Step) async throws {
        await #expect(throws: RefreshFailure.self) { try await self.delete(answer).get() }
    }

    @Test func `the end-session address has everything that spares the person a question`() async throws {
        try await withServer(Self.server { _ in LoopbackServer.answer(404) }) { server in
            try await withClient { client in
                let found = await client.browser.endSessionURL(
                    of: try requestingClient(at: server.origin),
                    idTokenHint: Secret("id-token"),
                    redirectURI: "http://127.0.0.1/out",
                    state: Secret("state-2")
                )
                let url = try #require(try found.get())
                #expect(url.host == "127.0.0.1")
                #expect(url.url.hasPrefix(server.origin + "/end?x=1&client_id=client&"))
                let query = formFields(url.url.split(separator: "?", maxSplits: 1).last ?? "")
                #expect(query["id_token_hint"] == ["id-token"])
                #expect(query["post_logout_redirect_uri"] == ["http://127.0.0.1/out"])
                #expect(query["state"] == ["state-2"])
            }
        }
    }

    @Test func `a provider with a redirect parameter of its own gets no id_token`() async throws {
        try await withClient { client in
            var profile = signInProfile(at: "https://as.example")
            profile.endpoints.endSession = Endpoint("https://as.example/logout")
            profile.endSessionRedirectParameter = "logout_uri"
            let found = await client.browser.endSessionURL(
                of: try requestingClient(at: "https://as.example", profile: profile),
                idTokenHint: Secret("id-token"),
                redirectURI: "https://me.example/out"
            )
            let url = try #require(try found.get()).url
            #expect(url == "https://as.example/logout?client_id=client&logout_uri=https%3A%2F%2Fme.example%2Fout")
        }
    }

    @Test func `a server without an end-session endpoint gives no address`() async throws {
        try await withClient { client in
            let profile = signInProfile(at: "https://as.example")
            let asking = try requestingClient(at: "https://as.example", profile: profile)
            #expect(try await client.browser.endSessionURL(of: asking).get() == nil)
        }
    }
}
