@testable import RefreshCore
import Testing

@testable import OAuthMessages
@testable import OAuthClient

/// Who gave the grant of a sign-in, according to the ID token, the UserInfo endpoint or introspection.
struct SignedInPersonTests {
    private static let tokens = #"{"access_token":"a1","token_type":"Bearer","expires_in":3600,"refresh_token":"r1""#

    /// The result of a code exchange whose ID token has these claims; nil for an answer without an ID token.
    private func person(
        claims: [String: JSONTree]? = nil,
        userInfo: LoopbackServer.Step? = nil,
        registration: ClientRegistration = ClientRegistration(clientID: "client"),
        profile amend: @escaping @Sendable (inout ProviderProfile, String) -> Void = {
            $0.endpoints.userInfo = Endpoint($1 + "/me")
        },
        introspection: LoopbackServer.Step? = nil
    ) async throws -> (person: SignedInPerson, requests: [LoopbackServer.Request]) {
        let signer = TestSigner()
        let script = signInServer(signer) { request, _ in
            switch request.line {
            case "POST /token":
                guard let claims else { return LoopbackServer.json(200, Self.tokens + "}") }
                let token = try signer.token(TestSigner.claims(request.origin, claims))
                return LoopbackServer.json(200, Self.tokens + #","id_token":"\#(token)"}"#)
            case "GET /me": return userInfo
            case "POST /introspect": return introspection
            default: return nil
            }
        }
        return try await withServer(script) { server in
            try await withClient { client in
                var profile = ProviderProfile(name: "test")
                amend(&profile, server.origin)
                let request = try codeExchange(at: server.origin, registration: registration, profile: profile) {
                    if claims == nil { $0.nonce = nil }
                }
                return (try await client.codes.exchange(request).result.get().person, server.requests)
            }
        }
    }

    @Test func `the UserInfo endpoint says who signed in if there is no ID token`() async throws {
        let answer =
            #"{"sub":"248289761001","preferred_username":"j.doe","email":"jane@example.org","name":"Jane Doe"}"#
        let (person, requests) = try await person(userInfo: LoopbackServer.json(200, answer))
        #expect(person.subject == "248289761001")
        #expect(person.names == PersonNames(username: "j.doe", email: "jane@example.org", fullName: "Jane Doe"))
        #expect(person.names?.best == "jane@example.org")
        let asked = try #require(requests.first { $0.line == "GET /me" })
        #expect(asked.header("authorization") == "Bearer a1")
    }

    @Test func `a provider's own user endpoint names people by its own fields`() async throws {
        let answer = #"{"login":"octocat","id":583231,"name":null,"email":null}"#
        let person = try await person(
            userInfo: LoopbackServer.json(200, answer),
            profile: { profile, origin in
                profile.endpoints.userInfo = Endpoint(origin + "/me")
                (profile.signIn.userSubject, profile.signIn.userName) = ("id", "login")
                profile.signIn.idToken = .ignored
            }
        ).person
        #expect(person.subject == "583231")
        #expect(person.names == PersonNames(username: "octocat"))
    }

    @Test func `a UserInfo endpoint that asks for its nonce gets it, and says who signed in`() async throws {
        let bound = ClientRegistration(clientID: "client", dpopKey: DPoPKey().secret)
        let script = signInServer(TestSigner()) { request, _ in
            switch request.line {
            case "POST /token":
                return LoopbackServer.json(200, Self.tokens.replacing("Bearer", with: "DPoP") + "}")
            case "GET /me":
                let proof = try? CompactJWS(Secret(request.header("dpop") ?? ""))
                guard proof?.payload.text("nonce") == "n1", proof?.payload.has("ath") == true else {
                    let asked = ["dpop-nonce": "n1", "www-authenticate": #"DPoP error="use_dpop_nonce""#]
                    return LoopbackServer.answer(401, asked)
                }
                return LoopbackServer.json(200, #"{"sub":"mallory"}"#)
            default: return nil
            }
        }
        try await withServer(script) { server in
            try await withClient { client in
                var profile = ProviderProfile(name: "test")
                profile.endpoints.userInfo = Endpoint(server.origin + "/me")
                let request = try codeExchange(at: server.origin, registration: bound, profile: profile) {
                    $0.nonce = nil
                }
                #expect(try await client.codes.exchange(request).result.get().person.subject == "mallory")
                let asked = server.requests.filter { $0.line == "GET /me" }
                #expect(asked.map { $0.header("authorization") } == ["DPoP a1", "DPoP a1"])
            }
        }
    }

    @Test func `if the ID token has a name, UserInfo is not asked`() async throws {
        let (person, requests) = try await person(
            claims: ["email": .string("jane@example.org"), "tid": .string("t-1"), "acr": .string("gold")]
        )
        #expect(person.subject == "alice")
        #expect(person.names == PersonNames(email: "jane@example.org", tenant: "t-1"))
        #expect(person.authenticationContext == "gold")
        #expect(!requests.contains { $0.line == "GET /me" })
    }

    @Test func `a name from UserInfo is used only if it belongs to the ID token's person`() async throws {
        let same = #"{"sub":"alice","email":"alice@example.org"}"#
        #expect(
            try await person(claims: [:], userInfo: LoopbackServer.json(200, same)).person.names?.email
                == "alice@example.org"
        )
        let other = #"{"sub":"mallory","email":"mallory@example.org"}"#
        let person = try await person(claims: [:], userInfo: LoopbackServer.json(200, other)).person
        #expect(person.subject == "alice")
        #expect(person.names == nil)
    }

    private func signed(
        _ claims: [String: JSONTree],
        by key: TestSigner? = nil,
        algorithm: String = "ES256"
    ) async throws -> SignedInPerson {
        let signer = TestSigner()
        let script = signInServer(signer) { request, _ in
            switch request.line {
            case "POST /token": return LoopbackServer.json(200, Self.tokens + "}")
            case "GET /me":
                let all = ["iss": JSONTree.string(request.origin), "aud": .string("client"), "sub": .string("alice")]
                    .merging(claims) { $1 }
                let token = try (key ?? signer).token(all, algorithm: algorithm)
                return LoopbackServer.answer(200, ["content-type": "application/jwt"], token)
            default: return nil
            }
        }
        return try await withServer(script) { server in
            try await withClient { client in
                var profile = ProviderProfile(name: "test")
                profile.endpoints.userInfo = Endpoint(server.origin + "/me")
                let registration = ClientRegistration(clientID: "client")
                let request = try codeExchange(at: server.origin, registration: registration, profile: profile) {
                    $0.nonce = nil
                }
                return try await client.codes.exchange(request).result.get().person
            }
        }
    }

    @Test func `a signed answer of the UserInfo endpoint is read`() async throws {
        let person = try await signed(["email": .string("alice@example.org")])
        #expect(person.subject == "alice")
        #expect(person.names?.email == "alice@example.org")
    }

    @Test(arguments: [["iss": JSONTree.string("https://evil.example")], ["aud": .string("other")]])
    func `a signed answer of another issuer, or for another client, names nobody`(
        _ claims: [String: JSONTree]
    ) async throws {
        #expect(try await signed(claims) == SignedInPerson())
    }

    @Test func `an answer that the server has not signed names nobody`() async throws {
        #expect(try await signed([:], by: TestSigner()) == SignedInPerson())
        #expect(try await signed([:], algorithm: "none") == SignedInPerson())
    }

    @Test(arguments: [
        LoopbackServer.answer(401), LoopbackServer.answer(403), LoopbackServer.json(200, "[]"),
        LoopbackServer.json(200, "{}"),
    ])
    func `if the server tells this client nothing, nobody is named`(_ answer: LoopbackServer.Step) async throws {
        let person = try await person(userInfo: answer).person
        #expect(person == SignedInPerson())
    }

    @Test(arguments: [LoopbackServer.answer(503), LoopbackServer.answer(429), LoopbackServer.Step.close])
    func `a server that could not be asked is reported as such`(_ answer: LoopbackServer.Step) async throws {
        let person = try await person(userInfo: answer).person
        #expect(person.subject == nil)
        #expect(person.unavailable?.failureClass == .unavailable)
    }

    @Test func `introspection names the person if there is no UserInfo endpoint`() async throws {
        let person = try await person(
            profile: { $0.introspectionEndpoint = Endpoint($1 + "/introspect") },
            introspection: LoopbackServer.json(200, #"{"active":true,"sub":"7","username":"jdoe"}"#)
        ).person
        #expect(person.subject == "7")
        #expect(person.names == PersonNames(username: "jdoe"))
    }

    @Test func `control characters are removed from names`() async throws {
        let answer = "{\"sub\":\"7\",\"name\":\"Jane\\u001b[31m\"}"
        let name = try await person(userInfo: LoopbackServer.json(200, answer)).person.names?.best
        #expect(name?.contains("\u{1b}") == false)
    }
}
