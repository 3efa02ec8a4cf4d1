@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Pushed authorization requests (RFC 9126).
struct PushedRequestTests {
    private static let secretClient = ClientRegistration(
        clientID: "client",
        authentication: .clientSecretPost,
        clientSecret: Secret("client-secret")
    )

    private static func metadata(_ origin: String, _ extra: String) -> LoopbackServer.Step {
        LoopbackServer.json(
            200,
            """
            {"issuer":"\(origin)","token_endpoint":"\(origin)/token","authorization_endpoint":"\(origin)/authorize"\(extra)}
            """
        )
    }

    /// A server that publishes `extra` and answers pushes with `answer`.
    private func push(
        _ answer: LoopbackServer.Step,
        by registration: ClientRegistration = secretClient,
        profile: ProviderProfile? = nil,
        publishing extra: @escaping @Sendable (String) -> String = {
            #","pushed_authorization_request_endpoint":"\#($0)/par""#
        }
    ) async throws -> (result: Result<AuthorizationURL, RefreshFailure>, pushed: [LoopbackServer.Request]) {
        try await withServer({ request, _ in
            let origin = "http://" + (request.header("host") ?? "")
            switch request.line {
            case "GET /.well-known/openid-configuration": return [Self.metadata(origin, extra(origin))]
            case "POST /par": return [answer]
            default: return [LoopbackServer.answer(404)]
            }
        }) { server in
            try await withClient { client in
                let request = try authorizationRequest(at: server.origin, profile: profile, registration: registration)
                let result = await client.browser.authorizationURL(for: request)
                return (result, server.requests.filter { $0.line == "POST /par" })
            }
        }
    }

    private static let requirement: @Sendable (String) -> String = {
        #","pushed_authorization_request_endpoint":"\#($0)/par","require_pushed_authorization_requests":true"#
    }

    private static let accepted = LoopbackServer.json(201, #"{"request_uri":"urn:example:1","expires_in":60}"#)

    /// Some servers require `response_type` and `redirect_uri` in the address as well.
    private static let reference = [
        "response_type": ["code"], "client_id": ["client"], "request_uri": ["urn:example:1"],
        "redirect_uri": ["http://127.0.0.1:1234/"],
    ]

    @Test func `authorization details are pushed with the rest, and are not in the URL`() async throws {
        var registration = Self.secretClient
        registration.authorizationDetails = #"[{"type":"accounts"}]"#
        let (result, pushed) = try await push(Self.accepted, by: registration)
        #expect(try result.get().parameters == Self.reference)
        let fields = formFields(try #require(pushed.first).body)
        #expect(fields["authorization_details"] == [#"[{"type":"accounts"}]"#])
    }

    @Test func `a client that authenticates pushes the request, and only the reference is in the URL`() async throws {
        let (result, pushed) = try await push(Self.accepted)
        let url = try result.get()
        #expect(url.parameters == Self.reference)
        #expect(url.expiresIn == .seconds(60))
        #expect(pushed.count == 1)
        let fields = formFields(try #require(pushed.first).body)
        #expect(fields["client_secret"] == ["client-secret"])
        #expect(fields["client_id"] == ["client"])
        #expect(fields["state"] == ["state-1"])
        #expect(fields["code_challenge"] == [exampleChallenge])
        #expect(fields["redirect_uri"] == ["http://127.0.0.1:1234/"])
    }

    @Test func `a public client pushes only if the server requires it`() async throws {
        let client = ClientRegistration(clientID: "client")
        let (free, unused) = try await push(Self.accepted, by: client)
        #expect(try free.get().parameters["state"] == ["state-1"])
        #expect(unused.isEmpty)
        let (required, pushed) = try await push(Self.accepted, by: client, publishing: Self.requirement)
        #expect(try required.get().parameters["request_uri"] == ["urn:example:1"])
        #expect(formFields(try #require(pushed.first).body)["client_id"] == ["client"])
    }

    @Test func `if the server refuses the push for this client, the request goes into the query`() async throws {
        let (result, pushed) = try await push(LoopbackServer.json(403, #"{"error":"unauthorized_client"}"#))
        #expect(try result.get().parameters["state"] == ["state-1"])
        #expect(pushed.count == 1)
    }

    @Test(arguments: [
        (401, #"{"error":"invalid_client"}"#, FailureClass.misconfigured), (503, "", .unanswered),
        (201, #"{"request_uri":""}"#, .misconfigured), (201, #"{"request_uri":"a b","expires_in":9}"#, .misconfigured),
    ])
    func `a push that fails for another reason makes the sign-in fail`(
        _ status: Int,
        _ body: String,
        _ failureClass: FailureClass
    ) async throws {
        let (result, _) = try await push(LoopbackServer.json(status, body))
        let failure = #expect(throws: RefreshFailure.self) { try result.get() }
        #expect(failure?.failureClass == failureClass)
    }

    @Test func `if pushing is required, a refusal is final`() async throws {
        let (result, _) = try await push(
            LoopbackServer.json(400, #"{"error":"invalid_request","error_description":"state-1 is bad"}"#),
            publishing: Self.requirement
        )
        let failure = #expect(throws: RefreshFailure.self) { try result.get() }
        #expect(failure?.detail.oauthError == "invalid_request")
        // A text with a short secret of ours is not shown.
        #expect(failure?.detail.oauthErrorDescription == "<redacted>")
    }

    @Test func `a redirect from the endpoint is not followed`() async throws {
        let (result, pushed) = try await push(LoopbackServer.answer(307, ["location": "/elsewhere"]))
        #expect(throws: RefreshFailure.self) { try result.get() }
        #expect(pushed.count == 1)
    }

    @Test func `the answer must have the issuer if the server says so`() async throws {
        let (result, _) = try await push(
            Self.accepted,
            publishing: { _ in #","authorization_response_iss_parameter_supported":true"# }
        )
        #expect(try result.get().requiresIssuer)
    }

    @Test func `a server that requires signed request objects gets no unsigned request`() async throws {
        let (result, _) = try await push(Self.accepted, publishing: { _ in #","require_signed_request_object":true"# })
        let failure = #expect(throws: RefreshFailure.self) { try result.get() }
        #expect(failure?.failureClass == .misconfigured)
    }

    @Test func `with metadata of another issuer no browser is opened`() async throws {
        try await withServer({ _, _ in [Self.metadata("https://as.example", "")] }) { server in
            try await withClient { client in
                let request = try authorizationRequest(at: server.origin, profile: nil)
                let result = await client.browser.authorizationURL(for: request)
                let failure = #expect(throws: RefreshFailure.self) { try result.get() }
                #expect(failure?.failureClass == .misconfigured)
                #expect(failure?.detail.oauthErrorDescription == "https://as.example")
            }
        }
    }

    @Test func `a profile can turn pushing off`() async throws {
        var profile = ProviderProfile(name: "test")
        profile.signIn.pushedRequests = .never
        let (result, pushed) = try await push(Self.accepted, profile: profile)
        #expect(try result.get().parameters["request_uri"] == nil)
        #expect(pushed.isEmpty)
    }

    @Test func `a profile can turn pushing on, for a server that requires it of this client only`() async throws {
        let client = ClientRegistration(clientID: "client")
        #expect(try await push(Self.accepted, by: client).pushed.isEmpty)
        var profile = ProviderProfile(name: "test")
        profile.signIn.pushedRequests = .always
        let (result, pushed) = try await push(Self.accepted, by: client, profile: profile)
        #expect(pushed.count == 1)
        #expect(try result.get().parameters["request_uri"] != nil)
        let refused = try await push(LoopbackServer.answer(400), by: client, profile: profile).result
        #expect(throws: RefreshFailure.self) { try refused.get() }
    }

    @Test func `an account without scopes asks for the usual ones that the server offers`() async throws {
        let offer: @Sendable (String) -> String = { _ in #","scopes_supported":["mail","openid","offline_access"]"# }
        let bare = ClientRegistration(clientID: "client")
        let url = try await push(Self.accepted, by: bare, publishing: offer).result.get()
        #expect(url.parameters["scope"] == ["openid offline_access"])
        let named = ClientRegistration(clientID: "client", scopes: ["mail"])
        #expect(
            try await push(Self.accepted, by: named, publishing: offer).result.get().parameters["scope"] == ["mail"]
        )
        let silent = try await push(Self.accepted, by: bare, publishing: { _ in "" }).result.get()
        #expect(silent.parameters["scope"] == nil)
    }
}
