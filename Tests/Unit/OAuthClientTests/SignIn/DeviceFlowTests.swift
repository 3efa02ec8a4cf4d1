@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Device codes (RFC 8628).
struct DeviceFlowTests {
    private func request(_ origin: String, profile: ProviderProfile? = nil) throws -> RequestingClient {
        try requestingClient(
            at: origin,
            registration: ClientRegistration(clientID: "client", scopes: ["openid", "mail"]),
            profile: profile
        )
    }

    private func authorize(
        _ status: Int,
        _ body: String,
        profile: ProviderProfile? = nil,
        parameters: [String: String] = [:]
    ) async throws -> (result: Result<DeviceAuthorization, RefreshFailure>, sent: LoopbackServer.Request?) {
        let script = signInServer(TestSigner()) { request, _ in
            request.line == "POST /device" ? LoopbackServer.json(status, body) : nil
        }
        return try await withServer(script) { server in
            try await withClient { client in
                var request = try request(server.origin, profile: profile)
                request.registration.refreshParameters = parameters
                let result = await client.devices.authorize(request)
                return (result, server.requests.first { $0.line == "POST /device" })
            }
        }
    }

    @Test func `the code and its address are read`() async throws {
        let (result, sent) = try await authorize(
            200,
            """
            {"device_code":"d1","user_code":"WDJB-MJHT","verification_uri":"https://as.example/device",
            "verification_uri_complete":"https://as.example/device?user_code=WDJB-MJHT","expires_in":1800,"interval":7}
            """
        )
        let codes = try result.get()
        #expect(codes.deviceCode == Secret("d1"))
        #expect(codes.userCode == "WDJB-MJHT")
        #expect(codes.verificationURI == "https://as.example/device")
        #expect(codes.verificationURIComplete == "https://as.example/device?user_code=WDJB-MJHT")
        #expect(codes.expiresIn == .seconds(1800))
        #expect(codes.interval == .seconds(7))
        #expect(sent?.fields == ["client_id": ["client"], "scope": ["openid mail"]])
    }

    @Test func `authorization details are sent with the device request, too`() throws {
        var request = try request("https://as.example")
        request.registration.authorizationDetails = #"[{"type":"accounts"}]"#
        #expect(
            DeviceFlow.fields(of: request, []).contains { $0 == ("authorization_details", #"[{"type":"accounts"}]"#) }
        )
    }

    @Test func `Google's names, absent numbers and absurd numbers are handled`() async throws {
        let (google, _) = try await authorize(
            200,
            #"{"device_code":"d","user_code":"U","verification_url":"https://g.example/device"}"#
        )
        #expect(try google.get().verificationURI == "https://g.example/device")
        #expect(try google.get().interval == .seconds(5))
        #expect(try google.get().expiresIn == .seconds(600))
        let (absurd, _) = try await authorize(
            200,
            #"{"device_code":"d","user_code":"U","verification_uri":"https://g.example/","expires_in":1e300,"interval":-5}"#
        )
        #expect(try absurd.get().interval == .seconds(1))
        #expect(try absurd.get().expiresIn == .seconds(86_400))
    }

    @Test(arguments: [
        (#"{"device_code":"d","user_code":"U","verification_uri":"http://as.example/device"}"#, "verification_uri"),
        (#"{"device_code":"d","user_code":"U","verification_uri":"javascript:alert(1)"}"#, "verification_uri"),
        (#"{"device_code":"d","user_code":"a\u001b[2J","verification_uri":"https://as.example/"}"#, "user_code"),
        (#"{"device_code":"","user_code":"U","verification_uri":"https://as.example/"}"#, "device_code"),
        (#"{"user_code":"U","verification_uri":"https://as.example/"}"#, "device_code"), ("{}", "device_code"),
    ])
    func `an answer that cannot be shown or used is refused, and the field is named`(
        body: String,
        field: String
    ) async throws {
        let (result, _) = try await authorize(200, body)
        let failure = #expect(throws: RefreshFailure.self) { try result.get() }
        #expect(
            failure?.detail.summary
                == "the answer of the \(EndpointRole.deviceAuthorization.name) lacks a field, or has one that cannot be used"
        )
        #expect(failure?.detail.oauthErrorDescription == field)
    }

    @Test func `a page in place of the device endpoint's answer is called by its name`() async throws {
        for (status, body) in [(404, ""), (307, ""), (200, "")] {
            let (result, _) = try await authorize(status, body)
            let failure = #expect(throws: RefreshFailure.self) { try result.get() }
            let summary = failure?.detail.summary ?? ""
            #expect(!summary.contains("token"), "\(summary)")
        }
    }

    @Test func `a complete address that is not a web page is left out`() async throws {
        let (result, _) = try await authorize(
            200,
            """
            {"device_code":"d","user_code":"U","verification_uri":"https://as.example/",
            "verification_uri_complete":"file:///etc/passwd"}
            """
        )
        #expect(try result.get().verificationURIComplete == nil)
    }

    @Test func `only parameters that are useful without a browser are sent`() async throws {
        var profile = ProviderProfile(name: "test")
        profile.signIn.authorizationParameters = ["audience": "api", "prompt": "consent", "access_type": "offline"]
        let (_, sent) = try await authorize(400, "{}", profile: profile)
        #expect(sent?.fields["audience"] == ["api"])
        #expect(sent?.fields["prompt"] == nil && sent?.fields["access_type"] == nil)
    }

    @Test func `a device code is asked for with the account's own resource`() async throws {
        let target = ["resource": "https://api.example/"]
        let (_, sent) = try await authorize(400, "{}", parameters: target)
        #expect(sent?.fields["resource"] == ["https://api.example/"])
    }

    private func poll(_ answer: LoopbackServer.Step?, claims: [String: JSONTree] = [:]) async throws
        -> DevicePollOutcome
    {
        let signer = TestSigner()
        let script = signInServer(signer) { request, _ in
            guard request.line == "POST /token" else { return nil }
            let isRight =
                request.fields == [
                    "grant_type": ["urn:ietf:params:oauth:grant-type:device_code"], "device_code": ["d1"],
                    "client_id": ["client"],
                ]
            guard isRight else { return LoopbackServer.json(400, #"{"error":"invalid_request"}"#) }
            let token = try signer.token(TestSigner.claims(request.origin, claims))
            return answer
                ?? LoopbackServer.json(200, #"{"access_token":"a1","refresh_token":"r1","id_token":"\#(token)"}"#)
        }
        return try await withServer(script) { server in
            try await withClient { client in
                await client.devices.poll(
                    Secret("d1"),
                    as: try requestingClient(
                        at: server.origin,
                        registration: ClientRegistration(clientID: "client", scopes: ["openid"])
                    )
                )
            }
        }
    }

    @Test func `a confirmed code gives tokens and the subject`() async throws {
        guard case .obtained(let outcome) = try await poll(nil) else {
            Issue.record("no tokens")
            return
        }
        #expect(outcome.grant?.subject == "alice")
        #expect(outcome.grant?.tokens.refreshToken?.secret == Secret("r1"))
    }

    @Test func `no ID token is required for a device code`() async throws {
        let tokens = LoopbackServer.json(200, #"{"access_token":"a1","refresh_token":"r1","scope":"openid"}"#)
        guard case .obtained(let outcome) = try await poll(tokens) else {
            Issue.record("no tokens")
            return
        }
        #expect(outcome.grant?.tokens.refreshToken?.secret == Secret("r1"))
        #expect(outcome.grant?.subject == nil)
    }

    @Test func `an ID token for another client makes the grant fail here, too`() async throws {
        guard case .obtained(let outcome) = try await poll(nil, claims: ["aud": .string("other")]) else {
            Issue.record("not answered")
            return
        }
        #expect(outcome.failure?.failureClass == .misconfigured)
    }

    @Test(arguments: [
        (400, "authorization_pending", "pending"), (428, "authorization_pending", "pending"),
        (200, "authorization_pending", "pending"), (400, "slow_down", "slowDown"), (403, "slow_down", "slowDown"),
        (400, "access_denied", "denied"), (400, "authorization_declined", "denied"), (400, "expired_token", "expired"),
        (400, "code_expired", "expired"), (400, "invalid_grant", "failed"), (401, "invalid_client", "failed"),
        (503, "", "failed"),
    ])
    func `each answer is recognized`(_ status: Int, _ error: String, _ expected: String) async throws {
        let outcome = try await poll(LoopbackServer.json(status, #"{"error":"\#(error)"}"#))
        let name =
            switch outcome {
            case .pending: "pending"
            case .slowDown: "slowDown"
            case .obtained: "obtained"
            case .denied: "denied"
            case .expired: "expired"
            case .failed: "failed"
            }
        #expect(name == expected)
        if case .denied(let failure) = outcome { #expect(failure.detail.oauthError == error) }
    }

    @Test func `a lost answer is reported, so that the next poll can wait longer`() async throws {
        guard case .failed(let failure) = try await poll(.close) else {
            Issue.record("not failed")
            return
        }
        #expect(failure.failureClass == .unanswered)
    }

    @Test func `a remote server cannot make the browser open a page of this machine`() throws {
        let body = AnswerBody(
            Answer(
                status: 200,
                headers: [:],
                body: Array(#"{"device_code":"d","user_code":"U","verification_uri":"http://127.0.0.1/"}"#.utf8)
            )
        )
        let remote = try requestingClient(at: "https://as.example")
        let local = try requestingClient(at: "http://127.0.0.1:1")
        #expect(throws: RefreshFailure.self) { try DeviceAuthorization(body, for: remote) }
        #expect(throws: Never.self) { try DeviceAuthorization(body, for: local) }
    }
}
