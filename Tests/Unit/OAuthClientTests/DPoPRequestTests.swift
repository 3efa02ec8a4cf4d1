import Foundation
import NIOCore
import NIOPosix
@testable import RefreshCore
import Testing

@testable import OAuthMessages
@testable import OAuthClient

/// Refreshes of tokens that are bound to a key (RFC 9449).
struct DPoPRequestTests {
    private static let key = DPoPKey()
    private static let bound = ClientRegistration(clientID: "client", dpopKey: key.secret)
    private static let wantsNonce = #"{"error":"use_dpop_nonce"}"#

    private static func nonce(in request: LoopbackServer.Request) -> String? {
        (try? CompactJWS(Secret(request.header("dpop") ?? "")))?.payload.text("nonce")
    }

    private static func refusal(giving nonce: String) -> String {
        let head = "HTTP/1.1 400 Status\r\ncontent-length: \(wantsNonce.utf8.count)\r\ndpop-nonce: \(nonce)\r\n\r\n"
        return head + wantsNonce
    }

    private static func note(_ nonce: String, by client: OAuthClient, from request: LoopbackServer.Request) {
        guard let endpoint = Endpoint(request.origin + "/token") else { return }
        let answer = Answer(status: 400, headers: ["dpop-nonce": nonce], body: [])
        let now = Timestamp(microseconds: 0)
        client.servers.origins.note(answer, from: endpoint, sentAt: now, now: now)
    }

    private func proof(_ request: LoopbackServer.Request) throws -> CompactJWS {
        let jws = try CompactJWS(Secret(request.header("dpop") ?? ""))
        let shown = try #require(jws.header.object("jwk").flatMap(PublicKey.init(jwk:)))
        #expect(shown.thumbprint == Self.key.thumbprint)
        #expect(shown.isValid(jws.signature, of: jws.signingInput, by: .es256))
        return jws
    }

    private func refresh(
        _ registration: ClientRegistration = bound,
        at server: LoopbackServer,
        by client: OAuthClient
    ) async throws -> RefreshOutcome {
        await client.refresh(try refreshRequest(to: server.origin, registration: registration))
    }

    @Test func `each request proves the key for this endpoint, and no two proofs are the same`() async throws {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            try await withClient { client async throws in
                for _ in 0..<2 { #expect(try await refresh(at: server, by: client).response != nil) }
            }
            let proofs = try server.requests.map(proof)
            #expect(Set(proofs.compactMap { $0.payload.text("jti") }).count == 2)
            for jws in proofs {
                #expect(jws.payload.text("htm") == "POST")
                #expect(jws.payload.text("htu") == server.origin + "/token")
                #expect(!jws.payload.has("ath"))
                #expect(!jws.payload.has("nonce"))
            }
        }
    }

    @Test func `without a key no proof is sent, and a demand for a nonce is not answered`() async throws {
        let refusal = LoopbackServer.answer(400, ["dpop-nonce": "n1"], Self.wantsNonce)
        try await withServer({ _, _ in [refusal] }) { server in
            try await withClient { client async throws in
                let plain = ClientRegistration(clientID: "client")
                #expect(try await refresh(plain, at: server, by: client).failure?.failureClass == .misconfigured)
            }
            #expect(server.requests.count == 1)
            #expect(server.requests.first?.header("dpop") == nil)
        }
    }

    @Test(arguments: [(400, true), (401, true), (401, false)])
    func `a demanded nonce is sent at once and with each later request`(
        status: Int,
        isInBody: Bool
    ) async throws {
        let challenge = isInBody ? [:] : ["www-authenticate": #"DPoP error="use_dpop_nonce""#]
        let refusal = LoopbackServer.answer(
            status,
            ["dpop-nonce": "n1"].merging(challenge) { $1 },
            isInBody ? Self.wantsNonce : ""
        )
        try await withServer({ request, _ in
            guard Self.nonce(in: request) == "n1" else { return [refusal] }
            return [LoopbackServer.json(200, issuedTokens)]
        }) { server in
            try await withClient { client async throws in
                #expect(try await refresh(at: server, by: client).response != nil)
                #expect(server.requests.count == 2)
                #expect(server.requests.map(\.body).allSatisfy { $0.contains("refresh_token=sent-refresh-token") })
                #expect(try await refresh(at: server, by: client).response != nil)
                #expect(server.requests.count == 3)
            }
        }
    }

    @Test func `a nonce in an answer with tokens is used for the next request`() async throws {
        try await withServer({ _, index in
            [LoopbackServer.answer(200, ["DPoP-Nonce": "n\(index)"], issuedTokens)]
        }) { server in
            try await withClient { client async throws in
                for _ in 0..<3 { _ = try await refresh(at: server, by: client) }
            }
            #expect(try server.requests.map { try proof($0).payload.text("nonce") } == [nil, "n0", "n1"])
        }
    }

    @Test func `after a server changed its nonce, each of its accounts is refreshed at once`() async throws {
        let accounts = 6
        let allSent = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        defer { allSent.succeed() }
        try await withServer({ request, index in
            // The first answer gives the old nonce. No account gets the new one before all have sent the old one.
            guard index > 0 else { return [LoopbackServer.answer(200, ["dpop-nonce": "old"], issuedTokens)] }
            if index == accounts { allSent.succeed() }
            let refusal = Self.refusal(giving: "new")
            guard index > accounts else { return [.sendAfter(allSent.futureResult, refusal)] }
            return [Self.nonce(in: request) == "new" ? LoopbackServer.json(200, issuedTokens) : .send(refusal)]
        }) { server in
            try await withClient { client async throws in
                #expect(try await refresh(at: server, by: client).response != nil)
                let request = try refreshRequest(to: server.origin, registration: Self.bound)
                let outcomes = await withTaskGroup(of: RefreshOutcome.self) { group in
                    for _ in 0..<accounts { group.addTask { await client.refresh(request) } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.compactMap(\.failure) == [])
            }
            let sent = server.requests.map(Self.nonce)
            let (old, new) = (
                [String?](repeating: "old", count: accounts), [String?](repeating: "new", count: accounts)
            )
            #expect(sent == [nil] + old + new)
        }
    }

    @Test func `a code is exchanged with a nonce that another answer brought first`() async throws {
        try await withClient { client async throws in
            try await withServer({ request, index in
                guard request.line == "POST /token" else { return [LoopbackServer.answer(404)] }
                guard Self.nonce(in: request) != "new" else { return [LoopbackServer.json(200, issuedTokens)] }
                // Simulates an answer to another account that arrived a moment ago.
                Self.note("new", by: client, from: request)
                return [.send(Self.refusal(giving: "new"))]
            }) { server in
                let profile = signInProfile(at: server.origin)
                let exchange = CodeExchange(
                    client: try requestingClient(at: server.origin, registration: Self.bound, profile: profile),
                    code: Secret("code-1"),
                    redirectURI: "http://127.0.0.1:1234/",
                    codeVerifier: Secret(exampleVerifier)
                )
                let outcome = await client.codes.exchange(exchange)
                #expect(try outcome.result.get().tokens.accessToken?.secret == Secret("a1"))
                #expect(server.requests.map(Self.nonce) == [nil, "new"])
            }
        }
    }

    @Test func `a nonce that the server repeats and refuses is not sent again`() async throws {
        try await withServer({ _, _ in [.send(Self.refusal(giving: "same"))] }) { server in
            try await withClient { client async throws in
                for _ in 0..<2 { _ = try await refresh(at: server, by: client) }
            }
            #expect(server.requests.map(Self.nonce) == [nil, "same", "same"])
        }
    }

    @Test(arguments: [true, false])
    func `a server that refuses each nonce is asked twice, and again later`(isInBody: Bool) async throws {
        let challenge = isInBody ? [:] : ["www-authenticate": #"DPoP error="use_dpop_nonce""#]
        try await withServer({ _, index in
            let headers = ["dpop-nonce": "n\(index)"].merging(challenge) { $1 }
            return [LoopbackServer.answer(isInBody ? 400 : 401, headers, isInBody ? Self.wantsNonce : "")]
        }) { server in
            try await withClient { client async throws in
                #expect(try await refresh(at: server, by: client).failure?.failureClass == .unavailable)
            }
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: ["", "a b", "n\u{e9}", String(repeating: "n", count: OriginMemory.nonceLimit + 1)])
    func `an invalid or too long nonce is not kept`(nonce: String) async throws {
        try await withServer({ _, _ in
            [LoopbackServer.answer(400, ["dpop-nonce": nonce], Self.wantsNonce)]
        }) { server in
            try await withClient { client async throws in _ = try await refresh(at: server, by: client) }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [("DPoP", false), ("dpop", false), ("Bearer", true), ("N_A", true), ("mac", true)])
    func `a token of any type but DPoP is marked as not bound to a key`(type: String, isUnbound: Bool) async throws {
        let answer = issuedTokens.replacingOccurrences(of: "Bearer", with: type)
        try await withServer({ _, _ in [LoopbackServer.json(200, answer)] }) { server in
            try await withClient { client async throws in
                let response = try await refresh(at: server, by: client).result.get()
                #expect((response.issuance.flaw == .unbound) == isUnbound)
                // A refresh token that the server rotated is not lost with the access token.
                #expect(response.refreshToken == RefreshToken(Secret("r2")))
                var accepting = Self.bound
                accepting.acceptsBearer = true
                for registration in [accepting, ClientRegistration(clientID: "client")] {
                    let taken = try await refresh(registration, at: server, by: client).result.get()
                    #expect(taken.issuance.flaw == nil)
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `of a Bearer answer to a code the refresh token is kept; without one the answer is refused`(
        hasRefreshToken: Bool
    ) async throws {
        let answer = hasRefreshToken ? issuedTokens : #"{"access_token":"a1","token_type":"Bearer"}"#
        try await withServer({ request, _ in
            [request.line == "POST /revoke" ? LoopbackServer.answer(200) : LoopbackServer.json(200, answer)]
        }) { server in
            let profile = signInProfile(at: server.origin) {
                $0.revocationEndpoint = Endpoint(server.origin + "/revoke")
            }
            let exchange = CodeExchange(
                client: try requestingClient(at: server.origin, registration: Self.bound, profile: profile),
                code: Secret("code-1"),
                redirectURI: "http://127.0.0.1:1234/",
                codeVerifier: Secret(exampleVerifier)
            )
            let outcome = try await withClient { await $0.codes.exchange(exchange) }
            switch outcome.result {
            case .success(let grant): #expect(hasRefreshToken && grant.tokens.issuance.flaw == .unbound)
            case .failure(let failure): #expect(!hasRefreshToken && failure.failureClass == .misconfigured)
            }
            // Nothing is revoked.
            #expect(server.requests.map(\.line) == ["POST /token"])
        }
    }

    @Test func `an exchanged token of type N_A does not count as a downgrade`() throws {
        let terms = ExchangeTerms(
            subject: SourceToken(account: try #require(AccountName("a")), type: .accessToken),
            actor: nil,
            requestedType: TokenTypeIdentifier.idToken.rawValue
        )
        var registration = Self.bound
        registration.serviceGrant = .tokenExchange(terms)
        let client = try requestingClient(at: "https://a.example", registration: registration)
        let tokens = { (type: String) in
            TokenResponse(
                accessToken: AccessToken(Secret("t"), type: type),
                refreshToken: nil,
                issuance: Issuance(lifetime: nil),
                scopes: nil,
                idToken: nil
            )
        }
        #expect(client.judged(tokens("N_A")).issuance.flaw == nil)
        #expect(client.judged(tokens("Bearer")).issuance.flaw == .unbound)
    }

    @Test func `a nonce of one origin is not sent to another`() async throws {
        let script: LoopbackServer.Script = { _, _ in
            [LoopbackServer.answer(200, ["dpop-nonce": "secret-of-one"], issuedTokens)]
        }
        try await withServer(script) { one in
            try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { other in
                try await withClient { client async throws in
                    _ = try await refresh(at: one, by: client)
                    _ = try await refresh(at: other, by: client)
                }
                #expect(try other.requests.map { try proof($0).payload.has("nonce") } == [false])
            }
        }
    }
}
