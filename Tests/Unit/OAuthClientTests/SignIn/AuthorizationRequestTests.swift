@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

struct AuthorizationRequestTests {
    private static let origin = "https://as.example"

    private func url(
        registration: ClientRegistration = ClientRegistration(clientID: "client", scopes: ["openid", "mail"]),
        profile amend: (inout ProviderProfile) -> Void = { _ in },
        request change: (inout AuthorizationRequest) -> Void = { _ in }
    ) async throws -> AuthorizationURL {
        let profile = signInProfile(at: Self.origin, amend)
        return try await withClient { client in
            let request = try authorizationRequest(
                at: Self.origin,
                profile: profile,
                registration: registration,
                change
            )
            return try await client.browser.authorizationURL(for: request).get()
        }
    }

    @Test(arguments: [(nil, false), (.optional, false), (.required, true)] as [(CallbackIssuer?, Bool)])
    func `a profile that replaces the metadata says whether answers name their issuer`(
        demand: CallbackIssuer?,
        isRequired: Bool
    ) async throws {
        let url = try await url(profile: { $0.signIn.callbackIssuer = demand })
        #expect(url.requiresIssuer == isRequired)
    }

    @Test func `the URL has each parameter of RFC 6749, 7636 and OpenID Connect once`() async throws {
        let url = try await url(request: {
            $0.nonce = Secret("nonce-1")
            $0.prompt = "login"
            $0.loginHint = "me@example.org"
            $0.acrValues = ["gold", "silver"]
            $0.maxAge = .seconds(300)
            $0.claims = #"{"id_token":{"acr":null}}"#
        })
        #expect(url.url.hasPrefix("https://as.example/authorize?response_type=code&client_id=client&"))
        #expect(url.host == "as.example")
        #expect(url.expiresIn == nil)
        #expect(!url.requiresIssuer)
        #expect(url.issuer == Self.origin)
        #expect(
            url.parameters == [
                "response_type": ["code"], "client_id": ["client"], "redirect_uri": ["http://127.0.0.1:1234/"],
                "state": ["state-1"], "code_challenge": [exampleChallenge], "code_challenge_method": ["S256"],
                "scope": ["openid mail"], "nonce": ["nonce-1"], "prompt": ["login"],
                "login_hint": ["me@example.org"], "acr_values": ["gold silver"], "max_age": ["300"],
                "claims": [#"{"id_token":{"acr":null}}"#],
            ]
        )
        #expect(!url.url.contains(exampleVerifier))
    }

    @Test func `a space is written as readers of forms and of URLs both understand it, and a plus stays a plus`()
        async throws
    {
        let url = try await url(request: { $0.loginHint = "me+you@example.org" })
        #expect(url.url.contains("&scope=openid%20mail&"))
        #expect(url.url.contains("&login_hint=me%2Byou%40example.org"))
        #expect(!url.url.contains("+"))
    }

    @Test func `parameters without a value are not sent`() async throws {
        let url = try await url(registration: ClientRegistration(clientID: "client"))
        #expect(
            url.parameters.keys.sorted() == [
                "client_id", "code_challenge", "code_challenge_method", "redirect_uri", "response_type", "state",
            ]
        )
    }

    @Test func `the account's resource, audience and authorization details are asked for when a person signs in`()
        async throws
    {
        var registration = ClientRegistration(clientID: "client")
        registration.refreshParameters = ["resource": "https://api.example/", "audience": "api", "own": "x"]
        registration.authorizationDetails = #"[{"type":"mail"}]"#
        let url = try await url(registration: registration)
        #expect(url.parameters["resource"] == ["https://api.example/"])
        #expect(url.parameters["audience"] == ["api"])
        #expect(url.parameters["own"] == nil)
        #expect(url.parameters["authorization_details"] == [#"[{"type":"mail"}]"#])
    }

    @Test func `an authorization parameter is preferred to the account's resource`() async throws {
        var registration = ClientRegistration(clientID: "client")
        registration.refreshParameters = ["resource": "https://api.example/"]
        registration.authorizationParameters = ["resource": "https://other.example/"]
        #expect(try await url(registration: registration).parameters["resource"] == ["https://other.example/"])
    }

    @Test(
        arguments: [
            (#""#, nil, ["select_account"]),
            (#","prompt_values_supported":["login","select_account"]"#, nil, ["select_account"]),
            (#","prompt_values_supported":["login","none"]"#, nil, nil), (#""#, "login", ["login"]),
        ] as [(String, String?, [String]?)]
    )
    func `the person is asked who signs in unless the server cannot ask`(
        more: String,
        prompt: String?,
        sent: [String]?
    ) async throws {
        let answer: LoopbackServer.Script = { request, _ in
            let origin = request.origin
            let places = #""token_endpoint":"\#(origin)/token","authorization_endpoint":"\#(origin)/authorize""#
            return [LoopbackServer.json(200, #"{"issuer":"\#(origin)",\#(places)\#(more)}"#)]
        }
        try await withServer(answer) { server in
            try await withClient { client in
                let request = try authorizationRequest(at: server.origin, profile: nil) {
                    ($0.choosesPerson, $0.prompt) = (true, prompt)
                }
                #expect(try await client.browser.authorizationURL(for: request).get().parameters["prompt"] == sent)
            }
        }
    }

    @Test func `only a profile or metadata with S256 means that the server checks the challenge`() async throws {
        #expect(try await !url().checksCodeChallenge)
        #expect(try await url(profile: { $0.signIn.pkce = .s256 }).checksCodeChallenge)
        #expect(try await !url(profile: { $0.signIn.pkce = .unsupported }).checksCodeChallenge)
    }

    @Test func `the request's values are preferred to the account's, and those to the profile's`() async throws {
        var registration = ClientRegistration(clientID: "client")
        registration.authorizationParameters = ["access_type": "online", "audience": "account"]
        let url = try await url(
            registration: registration,
            profile: {
                $0.signIn.authorizationParameters = [
                    "access_type": "offline", "prompt": "consent", "audience": "profile",
                ]
            },
            request: { $0.prompt = "select_account" }
        )
        #expect(url.parameters["access_type"] == ["online"])
        #expect(url.parameters["audience"] == ["account"])
        #expect(url.parameters["prompt"] == ["consent select_account"])
    }

    @Test func `offline_access goes with prompt=consent, unless something is against it`() async throws {
        let offline = ClientRegistration(clientID: "client", scopes: ["openid", "offline_access"])
        let usual = try await url(registration: offline)
        #expect(usual.parameters["prompt"] == ["consent"] && usual.asksForConsent)
        let login = try await url(registration: offline, request: { $0.prompt = "login" })
        #expect(login.parameters["prompt"] == ["login consent"])
        #expect(try await url(registration: offline, request: { $0.prompt = "none" }).parameters["prompt"] == ["none"])
        #expect(try await !url().asksForConsent)
        // The profile knows better, the last sign-in did without it, or the person chose another value for all.
        #expect(try await !url(registration: offline, profile: { $0.signIn.consentMayHelp = false }).asksForConsent)
        #expect(try await !url(registration: offline, request: { $0.needsNoConsent = true }).asksForConsent)
        var chosen = offline
        chosen.authorizationParameters = ["prompt": "select_account"]
        #expect(try await url(registration: chosen).parameters["prompt"] == ["select_account"])
        let silent = try await url(registration: offline, request: { $0.responseType = .idToken })
        #expect(!silent.asksForConsent)
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/common/v2.0", true),
        ("https://LOGIN.microsoftonline.us/9188040d/v2.0", true), ("https://contoso.ciamlogin.com/t/v2.0", true),
        ("https://contoso.b2clogin.com/t/v2.0", true), ("https://login.microsoftonline.com.example/v2.0", false),
        ("https://as.example", false),
    ])
    func `Entra is not asked for consent, even without a profile`(issuer: String, isEntra: Bool) throws {
        let client = RequestingClient(
            issuer: try Issuer(url: issuer),
            registration: ClientRegistration(clientID: "client"),
            correlationID: ""
        )
        #expect(client.asksForConsent(["offline_access"], isUnneeded: false) == !isEntra)
        #expect(client.consentMayHelp == !isEntra)
    }

    @Test func `scopes are the request's, else the account's, else the profile's, in the provider's form`() async throws
    {
        let slack = { (profile: inout ProviderProfile) in
            profile.scopeSeparator = ","
            profile.signIn.scopeParameter = "user_scope"
            profile.signIn.scopes = ["profile-1", "profile-2"]
        }
        let bare = ClientRegistration(clientID: "client")
        #expect(try await url(registration: bare, profile: slack).parameters["user_scope"] == ["profile-1,profile-2"])
        #expect(try await url(profile: slack).parameters["user_scope"] == ["openid,mail"])
        let asked = try await url(profile: slack, request: { $0.scopes = ["one"] })
        #expect(asked.parameters["user_scope"] == ["one"])
        #expect(asked.parameters["scope"] == nil)
    }

    @Test func `the profile decides about code challenge and response mode`() async throws {
        let url = try await url(profile: {
            $0.signIn.pkce = .unsupported
            $0.signIn.responseMode = .formPost
        })
        #expect(url.parameters["code_challenge"] == nil)
        #expect(url.parameters["code_challenge_method"] == nil)
        #expect(url.parameters["response_mode"] == ["form_post"])
    }

    @Test(arguments: [
        ("https://as.example/a?p=B2C_1_in", "https://as.example/a?p=B2C_1_in&response_type=code"),
        ("https://as.example/a?", "https://as.example/a?response_type=code"),
        ("https://as.example/a?x=1&", "https://as.example/a?x=1&response_type=code"),
        ("https://as.example/a?response_type=code", "https://as.example/a?response_type=code&client_id=client"),
    ])
    func `the endpoint's own query is kept, and nothing in it is sent twice`(_ endpoint: String, _ start: String)
        async throws
    {
        let url = try await url(profile: { $0.endpoints.authorization = Endpoint(endpoint) })
        #expect(url.url.hasPrefix(start))
    }

    @Test(arguments: ["state", "redirect_uri", "CLIENT_ID", "code_challenge", "request_uri", "nonce", "response_type"])
    func `an account's parameter that would change the request is refused`(_ name: String) async throws {
        var registration = ClientRegistration(clientID: "client")
        registration.authorizationParameters = [name: "x"]
        let failure = await #expect(throws: RefreshFailure.self) { try await url(registration: registration) }
        #expect(failure?.failureClass == .misconfigured)
        #expect(failure?.detail.oauthErrorDescription == name)
    }

    @Test func `a server without an authorization endpoint is reported as such`() async throws {
        let failure = await #expect(throws: RefreshFailure.self) {
            try await url(profile: { $0.endpoints.authorization = nil })
        }
        #expect(failure?.failureClass == .misconfigured)
        #expect(failure?.detail.correlationID == "correlation-1")
    }

    @Test func `the description of a request has no secret but the state`() async throws {
        let request = try authorizationRequest(at: Self.origin, profile: nil) { $0.nonce = Secret("nonce-1") }
        let text = String(describing: request) + String(reflecting: request)
        #expect(!text.contains("state-1") && !text.contains("nonce-1") && !text.contains(exampleVerifier))
    }
}
