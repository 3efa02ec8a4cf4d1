import Crypto
import Foundation
@testable import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages
@testable import OAuthClient

struct CodeExchangeTests {
    private static let tokens = #"{"access_token":"a1","token_type":"Bearer","expires_in":3600,"refresh_token":"r1""#

    private typealias Seen = (outcome: GrantOutcome, requests: [LoopbackServer.Request])

    /// The result of an exchange at a server that answers `/token` in this way.
    private func exchange(
        registration: ClientRegistration = ClientRegistration(clientID: "client", scopes: ["openid"]),
        profile: ProviderProfile? = nil,
        change: @escaping @Sendable (inout CodeExchange) -> Void = { _ in },
        signer: TestSigner = TestSigner(),
        _ answer: @escaping @Sendable (LoopbackServer.Request, TestSigner) throws -> LoopbackServer.Step?
    ) async throws -> Seen {
        try await withServer(signInServer(signer) { request, _ in try answer(request, signer) }) { server in
            try await withClient { client in
                var request = try codeExchange(at: server.origin, registration: registration, profile: profile)
                change(&request)
                return (await client.codes.exchange(request), server.requests)
            }
        }
    }

    private static func grant(_ origin: String, _ signer: TestSigner, _ claims: [String: JSONTree] = [:]) throws
        -> LoopbackServer.Step
    {
        let token = try signer.token(TestSigner.claims(origin, claims))
        return LoopbackServer.json(200, tokens + #","id_token":"\#(token)"}"#)
    }

    private func lines(_ seen: Seen) -> [String] { seen.requests.map(\.line) }

    @Test func `a code is exchanged for tokens and subject, and is sent once with the values it is bound to`()
        async throws
    {
        let seen = try await exchange { request, signer in
            request.line == "POST /token" ? try Self.grant(request.origin, signer) : nil
        }
        let grant = try seen.outcome.result.get()
        #expect(grant.subject == "alice")
        #expect(grant.tokens.accessToken?.secret == Secret("a1"))
        #expect(grant.tokens.refreshToken?.secret == Secret("r1"))
        #expect(grant.tokens.idToken != nil)
        #expect(grant.tokens.issuance.lifetime == .seconds(3600))
        let sent = seen.requests.filter { $0.line == "POST /token" }
        #expect(sent.count == 1)
        #expect(
            sent.first?.fields == [
                "grant_type": ["authorization_code"], "code": ["code-1"], "client_id": ["client"],
                "redirect_uri": ["http://127.0.0.1:1234/"], "code_verifier": [exampleVerifier],
            ]
        )
        // The keys were fetched before the code was spent.
        #expect(lines(seen).firstIndex(of: "GET /keys") ?? 9 < lines(seen).firstIndex(of: "POST /token") ?? 0)
    }

    @Test func `the code is exchanged for tokens of the account's own resource and audience`() async throws {
        let target = ["resource": "https://api.example/", "audience": "api"]
        let registration = ClientRegistration(clientID: "client", scopes: ["openid"], refreshParameters: target)
        let seen = try await exchange(registration: registration) { request, signer in
            request.line == "POST /token" ? try Self.grant(request.origin, signer) : nil
        }
        let sent = try #require(seen.requests.first { $0.line == "POST /token" })
        #expect(sent.fields["resource"] == ["https://api.example/"])
        #expect(sent.fields["audience"] == ["api"])
    }

    @Test(arguments: [("HS256", true), (nil, false), ("RS256", false)] as [(String?, Bool)])
    func `a token signed with the client secret is accepted if the client is registered so, without fetching keys`(
        registered: String?,
        isBelieved: Bool
    ) async throws {
        let client = ClientRegistration(
            clientID: "client",
            authentication: .clientSecretPost,
            clientSecret: Secret("s3cret"),
            idTokenAlgorithm: registered,
            scopes: ["openid"]
        )
        let seen = try await exchange(registration: client) { request, _ in
            guard request.line == "POST /token" else { return nil }
            let header = Base64URL.encode(#"{"alg":"HS256"}"#.utf8)
            let claims = Base64URL.encode(JSONTree.object(TestSigner.claims(request.origin)).bytes)
            let key = SymmetricKey(data: Data("s3cret".utf8))
            let code = HMAC<SHA256>.authenticationCode(for: Data("\(header).\(claims)".utf8), using: key)
            let token = "\(header).\(claims).\(Base64URL.encode(code))"
            return LoopbackServer.json(200, Self.tokens + #","id_token":"\#(token)"}"#)
        }
        #expect((seen.outcome.grant?.subject == "alice") == isBelieved)
        #expect(lines(seen).contains("GET /keys") == !isBelieved)
    }

    @Test(arguments: [
        LoopbackServer.Step.close, .reset, LoopbackServer.answer(502), LoopbackServer.json(200, "{}"),
        LoopbackServer.json(401, #"{"error":"invalid_client"}"#), LoopbackServer.json(400, #"{"error":"odd"}"#),
        LoopbackServer.answer(307, ["location": "http://127.0.0.1:1/token"]), LoopbackServer.answer(503),
    ])
    func `the code is never sent twice`(_ answer: LoopbackServer.Step) async throws {
        let secret = ClientRegistration(clientID: "client", clientSecret: Secret("s%cret"), scopes: ["openid"])
        for registration in [secret, ClientRegistration(clientID: "client", scopes: ["openid"])] {
            let seen = try await exchange(registration: registration) { request, _ in
                request.line == "POST /token" && request.fields["code"] == ["code-1"] ? answer : nil
            }
            #expect(seen.outcome.failure != nil)
            #expect(seen.requests.filter { $0.fields["code"] == ["code-1"] }.count == 1)
        }
    }

    @Test func `a learned form that the server refuses for a code is found out again at the next sign-in`()
        async throws
    {
        let signer = TestSigner()
        let script = signInServer(signer) { request, _ in
            guard request.line == "POST /token" else { return nil }
            guard request.header("authorization") != nil else {
                return LoopbackServer.json(401, #"{"error":"invalid_client"}"#)
            }
            return request.fields["code"] == ["code-1"]
                ? try Self.grant(request.origin, signer) : LoopbackServer.json(400, #"{"error":"invalid_grant"}"#)
        }
        try await withServer(script) { server in
            try await withClient { client in
                let registration = ClientRegistration(clientID: "client", clientSecret: Secret("s"), scopes: ["openid"])
                let endpoint = try #require(Endpoint(server.origin + "/token"))
                client.servers.cache.learn(
                    MetadataCache.LearnedForm(method: .clientSecretPost, repeatsClientID: false, audience: .issuer),
                    of: MetadataCache.ClientAt(endpoint: endpoint, clientID: "client")
                )
                let request = try codeExchange(at: server.origin, registration: registration)
                #expect(await client.codes.exchange(request).failure?.failureClass == .misconfigured)
                #expect(await client.codes.exchange(request).grant?.subject == "alice")
            }
        }
    }

    @Test func `keys after a byte order mark are read`() async throws {
        let seen = try await exchange { request, signer in
            switch request.line {
            case "GET /keys": LoopbackServer.json(200, "\u{FEFF}" + signer.keySet)
            case "POST /token": try Self.grant(request.origin, signer)
            default: nil
            }
        }
        #expect(seen.outcome.grant?.subject == "alice")
    }

    @Test(arguments: [("Wed, 01 Jan 2020 00:00:00 GMT", 0.0, true), ("Wed, 01 Jan 2020 00:00:00 GMT", 7200, false)])
    func `an ID token that is right by this machine's clock is believed whatever date the answer has`(
        _ date: String,
        issuedLater: Double,
        isBelieved: Bool
    ) async throws {
        let seen = try await exchange { request, signer in
            guard request.line == "POST /token" else { return nil }
            var claims = TestSigner.claims(request.origin)
            for name in ["iat", "exp"] { claims[name] = claims[name]?.seconds.map { .number($0 + issuedLater) } }
            let body = Self.tokens + #","id_token":"\#(try signer.token(claims))"}"#
            return LoopbackServer.answer(200, ["content-type": "application/json", "date": date], body)
        }
        #expect((seen.outcome.grant?.subject == "alice") == isBelieved)
    }

    @Test func `the clock of a server that refuses the code is remembered`() async throws {
        let date = ["date": "Sat, 21 Nov 2026 10:00:00 GMT"]
        let seen = try await exchange { request, _ in
            guard request.line == "POST /token" else { return nil }
            return LoopbackServer.answer(400, date, #"{"error":"invalid_grant"}"#)
        }
        #expect(seen.outcome.failure != nil)
        #expect(seen.outcome.serverDate == Timestamp(microseconds: 1_795_255_200_000_000))
    }

    @Test func `values that the second exchange does not replace are kept`() async throws {
        let seen = try await exchange(change: { request in
            var profile = ProviderProfile(name: "p")
            profile.exchangeEndpoint = Endpoint(request.client.issuer.url + "/lasting")
            request.client.profile = profile
        }) { request, signer in
            switch request.line {
            case "POST /token": try Self.grant(request.origin, signer)
            case "POST /lasting": LoopbackServer.json(200, #"{"access_token":"a2","expires_in":7200}"#)
            default: nil
            }
        }
        let tokens = try seen.outcome.result.get().tokens
        #expect(tokens.accessToken?.secret == Secret("a2"))
        #expect(tokens.issuance.lifetime == .seconds(7200))
        #expect(tokens.refreshToken?.secret == Secret("r1") && tokens.issuance.isRotated)
    }

    @Test func `how the server wants the secret written is found out with a made-up code`() async throws {
        let registration = ClientRegistration(clientID: "client", clientSecret: Secret("s%cret"), scopes: ["openid"])
        let raw = "Basic " + Base64.encode("client:s%cret")
        let seen = try await exchange(registration: registration) { request, signer in
            guard request.line == "POST /token" else { return nil }
            // A server that spends the code before it authenticates the client, as glewlwyd does with refresh tokens.
            guard request.header("authorization") == raw else {
                return LoopbackServer.json(401, #"{"error":"invalid_client"}"#)
            }
            guard request.fields["code"] == ["code-1"] else {
                return LoopbackServer.json(400, #"{"error":"invalid_grant"}"#)
            }
            return try Self.grant(request.origin, signer)
        }
        #expect(seen.outcome.grant?.subject == "alice")
        #expect(seen.outcome.basicCredentialEncoding == .raw)
        #expect(seen.requests.filter { $0.fields["code"] == ["code-1"] }.count == 1)
    }

    /// The result of an exchange by a client that is configured for Basic, and stored with the wrong form of its secret.
    /// The server accepts only the raw form, at all its endpoints.
    private func exchangeWithWrongEncoding(
        claims: [String: JSONTree] = [:],
        change: @escaping @Sendable (inout CodeExchange) -> Void = { _ in }
    ) async throws -> Seen {
        let registration = ClientRegistration(
            clientID: "client",
            authentication: .clientSecretBasic,
            clientSecret: Secret("s%cret"),
            scopes: ["openid"]
        )
        return try await exchange(registration: registration) { request in
            request.client.basicCredentialEncoding = .formEncoded
            change(&request)
        } _: { request, signer in
            guard request.line.hasPrefix("POST") else { return nil }
            guard request.header("authorization") == Self.rawHeader else {
                return LoopbackServer.json(401, #"{"error":"invalid_client"}"#)
            }
            switch (request.line, request.fields["code"]) {
            case ("POST /token", ["code-1"]): return try Self.grant(request.origin, signer, claims)
            case ("POST /token", _): return LoopbackServer.json(400, #"{"error":"invalid_grant"}"#)
            case ("POST /lasting", _): return LoopbackServer.json(200, #"{"access_token":"a2","expires_in":7200}"#)
            default: return nil
            }
        }
    }

    private static let rawHeader = "Basic " + Base64.encode("client:s%cret")

    @Test func `a stored form of the secret that the server refuses does not spend the code, and is replaced`()
        async throws
    {
        let seen = try await exchangeWithWrongEncoding()
        #expect(seen.outcome.grant?.subject == "alice")
        #expect(seen.outcome.basicCredentialEncoding == .raw)
        #expect(seen.requests.filter { $0.fields["code"] == ["code-1"] }.count == 1)
    }

    @Test func `the second exchange uses the form that was just found out, not the stored one`() async throws {
        let seen = try await exchangeWithWrongEncoding { request in
            var profile = ProviderProfile(name: "p")
            profile.exchangeEndpoint = Endpoint(request.client.issuer.url + "/lasting")
            request.client.profile = profile
        }
        #expect(seen.outcome.grant?.tokens.accessToken?.secret == Secret("a2"))
        let sent = seen.requests.filter { $0.line == "POST /lasting" }
        #expect(sent.map { $0.header("authorization") } == [Self.rawHeader])
    }

    @Test func `the audience of assertions is found out with a made-up code, too`() async throws {
        let key = Secret(P256.Signing.PrivateKey().pemRepresentation)
        let registration = ClientRegistration(clientID: "client", clientKey: key, scopes: ["openid"])
        let seen = try await exchange(registration: registration) { request, signer in
            guard request.line == "POST /token" else { return nil }
            let assertion = try CompactJWS(Secret(request.fields["client_assertion"]?.first ?? ""))
            // glewlwyd answers without a body.
            guard assertion.payload.text("aud") == request.origin + "/token" else { return LoopbackServer.answer(403) }
            guard request.fields["code"] == ["code-1"] else {
                return LoopbackServer.json(403, #"{"error":"invalid_code"}"#)
            }
            return try Self.grant(request.origin, signer)
        }
        #expect(seen.outcome.grant?.subject == "alice")
        #expect(seen.requests.filter { $0.fields["code"] == ["code-1"] }.count == 1)
    }

    @Test func `no made-up code is sent if the method is known and both forms are the same`() async throws {
        let registration = ClientRegistration(
            clientID: "client",
            authentication: .clientSecretBasic,
            clientSecret: Secret("plain"),
            scopes: ["openid"]
        )
        let seen = try await exchange(registration: registration) { request, signer in
            request.line == "POST /token" ? try Self.grant(request.origin, signer) : nil
        }
        #expect(seen.outcome.grant != nil)
        #expect(seen.requests.filter { $0.line == "POST /token" }.count == 1)
    }

    struct Forgery: Sendable, CustomTestStringConvertible {
        let what: String
        let claims: [String: JSONTree]
        var algorithm = "ES256"
        var testDescription: String { what }
    }

    @Test(arguments: [
        Forgery(what: "alg none", claims: [:], algorithm: "none"),
        Forgery(what: "alg HS256", claims: [:], algorithm: "HS256"),
        Forgery(what: "another audience", claims: ["aud": .string("other")]),
        Forgery(what: "another nonce", claims: ["nonce": .string("nonce-2")]),
        Forgery(what: "no nonce", claims: ["nonce": .null]),
        Forgery(what: "another issuer", claims: ["iss": .string("https://evil.example")]),
        Forgery(what: "expired", claims: ["exp": .number(1_000_000_000)]),
        Forgery(what: "another access token", claims: ["at_hash": .string("AAAAAAAAAAAAAAAAAAAAAA")]),
        Forgery(what: "another code", claims: ["c_hash": .string("AAAAAAAAAAAAAAAAAAAAAA")]),
    ])
    func `an invalid ID token makes the sign-in fail, and nothing is revoked`(
        _ forgery: Forgery
    ) async throws {
        let seen = try await exchange { request, signer in
            guard request.line == "POST /token" else { return nil }
            let claims = TestSigner.claims(request.origin, forgery.claims)
            let token = try signer.token(claims, algorithm: forgery.algorithm)
            return LoopbackServer.json(200, Self.tokens + #","id_token":"\#(token)"}"#)
        }
        let failure = try #require(seen.outcome.failure)
        #expect(failure.failureClass == .misconfigured)
        #expect(failure.detail.summary.hasPrefix("the server's ID token is invalid: "))
        #expect(failure.detail.correlationID == "correlation-1")
        // The account may already hold a grant, and the server could end that one, too.
        #expect(!lines(seen).contains("POST /revoke"))
    }

    @Test func `a token signed with another key is refused after the keys were fetched again`() async throws {
        let forger = TestSigner(keyID: "key-1")
        let seen = try await exchange { request, _ in
            request.line == "POST /token" ? try Self.grant(request.origin, forger) : nil
        }
        #expect(seen.outcome.failure?.detail.summary.hasSuffix("its signature is wrong") == true)
        // The keys that were just fetched are young enough. An attacker cannot make us fetch them again.
        #expect(lines(seen).filter { $0 == "GET /keys" }.count == 1)
    }

    @Test func `rotated keys are fetched again`() async throws {
        let old = TestSigner(keyID: "old")
        let new = TestSigner(keyID: "new")
        let instants = SteppedClock()
        let answer: @Sendable (LoopbackServer.Request, Int) throws -> LoopbackServer.Step? = { request, _ in
            switch request.line {
            case "POST /token": return try Self.grant(request.origin, instants.isStepped ? new : old)
            case "GET /keys" where instants.isStepped: return LoopbackServer.json(200, new.keySet)
            default: return nil
            }
        }
        try await withServer(signInServer(old, answer)) { server in
            try await withClient({ $0.uptime = { instants.now } }) { client in
                let request = try codeExchange(at: server.origin)
                #expect(await client.codes.exchange(request).grant?.subject == "alice")
                instants.step(by: .seconds(11))
                #expect(await client.codes.exchange(request).grant?.subject == "alice")
                #expect(server.requests.filter { $0.line == "GET /keys" }.count == 2)
            }
        }
    }

    @Test func `if keys cannot be fetched, the sign-in fails before the code is spent`() async throws {
        let seen = try await exchange { request, _ in
            request.line == "GET /keys" ? LoopbackServer.answer(503, ["retry-after": "7"]) : nil
        }
        #expect(seen.outcome.failure?.failureClass == .unavailable)
        #expect(seen.outcome.failure?.retryAfter == .seconds(7))
        #expect(!lines(seen).contains("POST /token"))
    }

    @Test(arguments: [("junk", 0), (#"{"keys":5}"#, 0), (#"{"keys":[]}"#, 300_000)])
    func `unreadable or too long key sets count as missing`(_ keys: String, _ padding: Int) async throws {
        let body = keys + String(repeating: " ", count: padding)
        let seen = try await exchange { request, _ in
            request.line == "GET /keys" ? LoopbackServer.json(200, body) : nil
        }
        #expect(seen.outcome.failure?.failureClass == .unavailable)
        #expect(!lines(seen).contains("POST /token"))
    }

    @Test
    func `a server that grants openid without an ID token is refused; one that does not grant openid is accepted`()
        async throws
    {
        let without = try await exchange { request, _ in
            request.line == "POST /token" ? LoopbackServer.json(200, Self.tokens + "}") : nil
        }
        #expect(without.outcome.failure?.detail.summary == "the answer lacks the ID token that was requested")
        let narrowed = try await exchange { request, _ in
            request.line == "POST /token" ? LoopbackServer.json(200, Self.tokens + #","scope":"mail"}"#) : nil
        }
        #expect(narrowed.outcome.grant?.tokens.accessToken?.secret == Secret("a1"))
        #expect(narrowed.outcome.grant?.subject == nil)
    }

    @Test func `if the profile ignores ID tokens, none is kept or checked`() async throws {
        var profile = ProviderProfile(name: "test")
        profile.signIn.idToken = .ignored
        let seen = try await exchange(profile: profile) { request, _ in
            request.line == "POST /token" ? LoopbackServer.json(200, Self.tokens + #","id_token":"junk"}"#) : nil
        }
        #expect(seen.outcome.grant != nil)
        #expect(seen.outcome.grant?.tokens.idToken == nil)
        #expect(!lines(seen).contains("GET /keys"))
    }

    @Test(arguments: [
        (200, #"{"error":"bad_verification_code","error_description":"code-1 has expired"}"#, FailureClass.grantEnded),
        (200, #"{"ok":false,"error":"invalid_code"}"#, .grantEnded),
        (400, #"{"error":"redirect_uri_mismatch"}"#, .misconfigured),
        (200, "<html>portal</html>", .unanswered),
    ])
    func `errors with status 200 or with providers' own names are recognized, and secrets in them are not shown`(
        _ status: Int,
        _ body: String,
        _ failureClass: FailureClass
    ) async throws {
        let seen = try await exchange { request, _ in
            request.line == "POST /token" ? LoopbackServer.json(status, body) : nil
        }
        let failure = try #require(seen.outcome.failure)
        #expect(failure.failureClass == failureClass)
        #expect(!String(describing: failure).contains("code-1"))
    }

    @Test func `an oversized answer is cut off and counts as lost`() async throws {
        let seen = try await withServer(
            signInServer(TestSigner()) { request, _ in
                request.line == "POST /token"
                    ? .flood("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 4096), limit: 1 << 22) : nil
            }
        ) { server in
            try await withClient { await $0.codes.exchange(try codeExchange(at: server.origin)) }
        }
        #expect(seen.failure?.failureClass == .unanswered)
    }

    @Test func `the fields that the profile names are kept, others are not`() async throws {
        var profile = ProviderProfile(name: "test")
        profile.tokenFields = ["instance_url", "team.id", "missing", "big", "number"]
        let big = String(repeating: "x", count: KeptFields.valueLimit + 1)
        let body =
            Self.tokens
            + #","instance_url":"https://x.example","team":{"id":"T1"},"number":5,"secret":"no","big":"\#(big)"}"#
        let seen = try await exchange(
            registration: ClientRegistration(clientID: "client"),
            profile: profile,
            change: { $0.nonce = nil }
        ) { request, _ in request.line == "POST /token" ? LoopbackServer.json(200, body) : nil }
        #expect(
            seen.outcome.grant?.keptFields == ["instance_url": "https://x.example", "team.id": "T1", "number": "5"]
        )
    }
}

/// ID tokens that come through the browser (OpenID Connect Core §3.2.2.11, §3.3.2.10).
struct FrontChannelTests {
    private static let code = "code-1"

    /// The first half of the code's hash, for `c_hash`.
    private static var codeHash: JSONTree {
        .string(Base64URL.encode(SHA256.hash(data: Data(code.utf8)).prefix(16)))
    }

    /// The result of an exchange whose code came with an ID token of these claims, at a server that answers with an ID
    /// token of `later`.
    private func exchange(
        _ claims: [String: JSONTree],
        later: [String: JSONTree] = [:]
    ) async throws -> (outcome: GrantOutcome, lines: [String]) {
        let signer = TestSigner()
        let script = signInServer(signer) { request, _ in
            guard request.line == "POST /token" else { return nil }
            let token = try signer.token(TestSigner.claims(request.origin, later))
            return LoopbackServer.json(
                200,
                #"{"access_token":"a1","token_type":"Bearer","refresh_token":"r1","id_token":"\#(token)"}"#
            )
        }
        return try await withServer(script) { server in
            try await withClient { client in
                var request = try codeExchange(at: server.origin)
                request.frontIDToken = Secret(try signer.token(TestSigner.claims(server.origin, claims)))
                return (await client.codes.exchange(request), server.requests.map(\.line))
            }
        }
    }

    @Test func `a code is exchanged if its ID token has its hash`() async throws {
        let seen = try await exchange(["c_hash": Self.codeHash])
        #expect(try seen.outcome.result.get().subject == "alice")
    }

    @Test(
        arguments: [
            [:], ["c_hash": .string("AAAAAAAAAAAAAAAAAAAAAA")], ["c_hash": codeHash, "nonce": .string("nonce-2")],
            ["c_hash": codeHash, "aud": .string("another")], ["c_hash": codeHash, "exp": .number(1)],
        ] as [[String: JSONTree]]
    )
    func `a code is not sent if the ID token that came with it is invalid`(claims: [String: JSONTree])
        async throws
    {
        let seen = try await exchange(claims)
        #expect(seen.outcome.failure?.failureClass.isMisconfiguration == true)
        #expect(!seen.lines.contains("POST /token"))
    }

    @Test func `a grant is dropped if its two ID tokens name different people`() async throws {
        let seen = try await exchange(["c_hash": Self.codeHash, "sub": .string("mallory")])
        #expect(seen.outcome.failure?.detail.summary.contains("name different people") == true)
        #expect(seen.lines.last == "POST /token")
    }
}
