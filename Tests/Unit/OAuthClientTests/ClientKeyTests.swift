import Crypto
import Foundation
@testable import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages
@testable import OAuthClient

/// Clients that sign their credentials: `private_key_jwt`, `client_secret_jwt`, Apple's secret.
struct ClientKeyTests {
    private static let key = P256.Signing.PrivateKey()

    private static func registration(_ method: ClientAuthentication? = nil) -> ClientRegistration {
        ClientRegistration(
            clientID: "client",
            authentication: method,
            clientKey: Secret(key.pemRepresentation),
            clientKeyID: "k1"
        )
    }

    private func refresh(
        _ registration: ClientRegistration,
        at server: LoopbackServer,
        profile: ProviderProfile? = nil,
        by client: OAuthClient
    ) async throws -> RefreshOutcome {
        await client.refresh(try refreshRequest(to: server.origin, registration: registration, profile: profile))
    }

    private func form(_ request: LoopbackServer.Request) throws -> [String: String] {
        try #require(FormEncoding.parse(request.body))
    }

    /// The assertion in a request, checked with the client's key.
    private func assertion(_ request: LoopbackServer.Request) throws -> CompactJWS {
        let form = try form(request)
        #expect(form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        let jws = try CompactJWS(Secret(form["client_assertion"] ?? ""))
        #expect(PublicKey.p256(Self.key.publicKey).isValid(jws.signature, of: jws.signingInput, by: .es256))
        return jws
    }

    @Test func `a client with a key signs a new assertion for each request`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            try await withClient { client async throws in
                for _ in 0..<2 {
                    #expect(try await refresh(Self.registration(), at: server, by: client).response != nil)
                }
            }
            let assertions = try server.requests.map(assertion)
            #expect(assertions.count == 2)
            #expect(Set(assertions.compactMap { $0.payload.text("jti") }).count == 2)
            for jws in assertions {
                #expect(jws.header.text("kid") == "k1")
                #expect(jws.payload.text("iss") == "client")
                #expect(jws.payload.text("sub") == "client")
                #expect(jws.payload.text("aud") == server.origin)
            }
            let request = try #require(server.requests.first)
            #expect(request.header("authorization") == nil)
            #expect(try form(request)["client_id"] == "client")
            #expect(try form(request)["refresh_token"] == "sent-refresh-token")
        }
    }

    @Test func `a server that requires its token endpoint as audience is found out and remembered`() async throws {
        try await withServer({ request, _ in
            let text = FormEncoding.parse(request.body)?["client_assertion"] ?? ""
            let audience = (try? CompactJWS(Secret(text)))?.payload.text("aud") ?? ""
            return audience.hasSuffix("/token")
                ? [LoopbackServer.json(200, issuedTokens)] : [LoopbackServer.json(401, #"{"error":"invalid_client"}"#)]
        }) { server in
            try await withClient { client async throws in
                #expect(try await refresh(Self.registration(), at: server, by: client).response != nil)
                #expect(server.requests.count == 2)
                #expect(try await refresh(Self.registration(), at: server, by: client).response != nil)
                #expect(server.requests.count == 3)
            }
        }
    }

    @Test func `with an audience in the profile no other audience is tried`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(401, #"{"error":"invalid_client"}"#)] }) { server in
            var profile = ProviderProfile(name: "test")
            profile.assertionAudience = .tokenEndpoint
            try await withClient { client async throws in
                let outcome = try await refresh(Self.registration(), at: server, profile: profile, by: client)
                #expect(outcome.failure?.failureClass == .misconfigured)
            }
            #expect(server.requests.count == 1)
            #expect(try server.requests.map { try assertion($0).payload.text("aud") } == [server.origin + "/token"])
        }
    }

    @Test func `a client secret can sign assertions, too`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let registration = ClientRegistration(
                clientID: "client",
                authentication: .clientSecretJWT,
                clientSecret: Secret("a client secret")
            )
            try await withClient { client async throws in
                #expect(try await refresh(registration, at: server, by: client).response != nil)
            }
            let form = try form(try #require(server.requests.first))
            let jws = try CompactJWS(Secret(form["client_assertion"] ?? ""))
            let key = SharedKey(Secret("a client secret"))
            #expect(key.isValid(jws.signature, of: jws.signingInput, by: .sha256))
            #expect(form["client_secret"] == nil)
        }
    }

    @Test func `Apple's secret is made from the key`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            var registration = Self.registration()
            registration.teamID = "TEAM123456"
            try await withClient { client async throws in
                #expect(try await refresh(registration, at: server, by: client).response != nil)
            }
            let form = try form(try #require(server.requests.first))
            let jws = try CompactJWS(Secret(form["client_secret"] ?? ""))
            #expect(PublicKey.p256(Self.key.publicKey).isValid(jws.signature, of: jws.signingInput, by: .es256))
            #expect(jws.payload.text("iss") == "TEAM123456")
            #expect(jws.payload.text("sub") == "client")
            #expect(jws.payload.text("aud") == "https://appleid.apple.com")
            #expect(form["client_assertion"] == nil)
        }
    }

    @Test(arguments: ["", "no key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----"])
    func `nothing is sent if the key cannot be used`(text: String) async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let registration = ClientRegistration(clientID: "client", clientKey: Secret(text))
            try await withClient { client async throws in
                let outcome = try await refresh(registration, at: server, by: client)
                #expect(outcome.failure?.failureClass == .misconfigured)
                #expect(outcome.failure?.detail.summary.contains("key") == true)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `times in assertions follow the server's clock once it is known`() async throws {
        let ahead = "Wed, 01 Jan 2098 00:00:00 GMT"
        let instant = Timestamp(microseconds: Int64(try #require(HTTPDate.parse(ahead))) * 1_000_000)
        try await withServer({ _, _ in [LoopbackServer.answer(200, ["date": ahead], issuedTokens)] }) { server in
            try await withClient { client async throws in
                for _ in 0..<2 { _ = try await refresh(Self.registration(), at: server, by: client) }
            }
            let times = try server.requests.map { try #require(try assertion($0).payload.date("iat")) }
            #expect(times[0] < instant - .seconds(86_400))
            #expect(times[1] >= instant - .seconds(2))
        }
    }

    @Test func `a refusal that shows the server's clock is repeated once with it`() async throws {
        let ahead = "Wed, 01 Jan 2098 00:00:00 GMT"
        let instant = Timestamp(microseconds: Int64(try #require(HTTPDate.parse(ahead))) * 1_000_000)
        let refusal = LoopbackServer.answer(401, ["date": ahead], #"{"error":"invalid_client"}"#)
        for isAccepted in [true, false] {
            try await withServer({ request, _ in
                let text = FormEncoding.parse(request.body)?["client_assertion"] ?? ""
                let time = (try? CompactJWS(Secret(text)))?.payload.date("iat")
                return [
                    isAccepted && time.map { $0 >= instant - .seconds(2) } == true ? Self.issued(at: ahead) : refusal
                ]
            }) { server in
                var profile = ProviderProfile(name: "test")
                profile.assertionAudience = .issuer
                try await withClient { client async throws in
                    let outcome = try await refresh(Self.registration(), at: server, profile: profile, by: client)
                    #expect((outcome.response != nil) == isAccepted)
                }
                #expect(server.requests.count == 2)
            }
        }
    }

    private static func issued(at date: String) -> LoopbackServer.Step {
        LoopbackServer.answer(200, ["date": date], issuedTokens)
    }

    @Test func `the date of an answer from a cache is not the server's clock`() async throws {
        let headers = ["date": "Wed, 01 Jan 2098 00:00:00 GMT", "age": "1"]
        try await withServer({ _, _ in
            [LoopbackServer.answer(401, headers, #"{"error":"invalid_client"}"#)]
        }) { server in
            var profile = ProviderProfile(name: "test")
            profile.assertionAudience = .issuer
            try await withClient { client async throws in
                let outcome = try await refresh(Self.registration(), at: server, profile: profile, by: client)
                #expect(outcome.failure?.failureClass == .misconfigured && outcome.serverDate == nil)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `the server's clock is learned from its metadata, before anything is signed`() async throws {
        let ahead = "Wed, 01 Jan 2098 00:00:00 GMT"
        let instant = Timestamp(microseconds: Int64(try #require(HTTPDate.parse(ahead))) * 1_000_000)
        try await withServer({ request, _ in
            guard request.line.hasPrefix("GET ") else { return [LoopbackServer.json(200, issuedTokens)] }
            let document = #"{"issuer":"\#(request.origin)","token_endpoint":"\#(request.origin)/token"}"#
            return [LoopbackServer.answer(200, ["date": ahead], document)]
        }) { server in
            let client = try requestingClient(at: server.origin, registration: Self.registration())
            let request = RefreshRequest(client: client, refreshToken: RefreshToken(Secret("r1")))
            #expect(try await withClient { await $0.refresh(request) }.response != nil)
            let sent = try #require(server.requests.first { $0.line == "POST /token" })
            #expect(try #require(try assertion(sent).payload.date("iat")) >= instant - .seconds(2))
        }
    }

    @Test(arguments: [
        (nil, ClientAuthentication.privateKeyJWT), (["private_key_jwt", "tls_client_auth"], .privateKeyJWT),
        (["self_signed_tls_client_auth"], .selfSignedTLSClientAuth), (["client_secret_basic"], .privateKeyJWT),
    ]) func `the method of a client with a key depends on what the server offers`(
        offered: [String]?,
        method: ClientAuthentication
    ) {
        #expect(ClientCredentials.method(Self.registration(), profile: nil, offered: offered) == method)
    }
}
