import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Finding out how a server wants the credentials written.
extension ClientAuthenticationTests {
    /// What a server does that takes only requests that `isGood` likes.
    private func script(
        refusal: LoopbackServer.Step = LoopbackServer.json(401, #"{"error":"invalid_client"}"#),
        isGood: @escaping @Sendable (LoopbackServer.Request) -> Bool
    ) -> LoopbackServer.Script {
        { request, _ in [isGood(request) ? LoopbackServer.json(200, issuedTokens) : refusal] }
    }

    @Test(arguments: [
        LoopbackServer.json(401, #"{"error":"invalid_client"}"#),
        LoopbackServer.json(403, #"{"error":"unauthorized_client"}"#),
        LoopbackServer.answer(401),
        LoopbackServer.answer(400),
    ])
    func `a server that wants the raw secret gets it once asked, and it is remembered`(
        _ refusal: LoopbackServer.Step
    ) async throws {
        try await withServer(script(refusal: refusal) { $0.header("authorization") == Self.rawHeader }) { server in
            try await withClient { client in
                let registration = Self.registration(.clientSecretBasic)
                let outcome = await client.refresh(try refreshRequest(to: server.origin, registration: registration))
                #expect(outcome.response != nil)
                #expect(outcome.basicCredentialEncoding == .raw)
                #expect(server.requests.map { $0.header("authorization") } == [Self.formHeader, Self.rawHeader])

                let second = await client.refresh(
                    try refreshRequest(to: server.origin, registration: registration, encoding: .raw)
                )
                #expect(second.response != nil)
                #expect(second.basicCredentialEncoding == nil)
                #expect(server.requests.count == 3)
            }
        }
    }

    @Test func `a server that takes the encoded secret is remembered at the first answer`() async throws {
        try await withServer(script { $0.header("authorization") == Self.formHeader }) { server in
            let outcome = try await withClient {
                await $0.refresh(
                    try refreshRequest(to: server.origin, registration: Self.registration(.clientSecretBasic))
                )
            }
            #expect(outcome.basicCredentialEncoding == .formEncoded)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a dead grant tells the encoding too, and is not asked about twice`() async throws {
        let dead = LoopbackServer.json(400, #"{"error":"invalid_grant"}"#)
        try await withServer({ _, _ in [dead] }) { server in
            let outcome = try await withClient {
                await $0.refresh(
                    try refreshRequest(to: server.origin, registration: Self.registration(.clientSecretBasic))
                )
            }
            #expect(outcome.failure?.failureClass == .grantEnded)
            #expect(outcome.basicCredentialEncoding == .formEncoded)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a server that wants client_id beside Basic gets it, and is not asked without it again`() async throws {
        let isGood = { @Sendable (request: LoopbackServer.Request) in
            request.body.contains("client_id=client") && request.header("authorization") != nil
        }
        try await withServer(script(isGood: isGood)) { server in
            try await withClient { client in
                let request = try refreshRequest(
                    to: server.origin,
                    registration: Self.registration(.clientSecretBasic, secret: "plain")
                )
                #expect(await client.refresh(request).response != nil)
                #expect(server.requests.count == 2)
                #expect(await client.refresh(request).response != nil)
                #expect(server.requests.count == 3)
            }
        }
    }

    @Test func `a client that the server knows by its body gets there, and directly the next time`() async throws {
        let isGood = { @Sendable (request: LoopbackServer.Request) in
            request.body.contains("client_secret=plain") && request.header("authorization") == nil
        }
        try await withServer(script(isGood: isGood)) { server in
            try await withClient { client in
                let request = try refreshRequest(
                    to: server.origin,
                    registration: Self.registration(nil, secret: "plain")
                )
                #expect(await client.refresh(request).response != nil)
                #expect(server.requests.count == 3)
                #expect(await client.refresh(request).response != nil)
                #expect(server.requests.count == 4)
            }
        }
    }

    @Test func `a method that was chosen is never left for another`() async throws {
        let refuse: LoopbackServer.Script = { _, _ in [LoopbackServer.json(401, #"{"error":"invalid_client"}"#)] }
        for method in [ClientAuthentication.clientSecretBasic, .clientSecretPost] {
            try await withServer(refuse) { server in
                try await withClient { client in
                    let registration = Self.registration(method, secret: "plain")
                    _ = await client.refresh(try refreshRequest(to: server.origin, registration: registration))
                }
                let isInBody = server.requests.map { $0.body.contains("client_secret") }
                #expect(isInBody.allSatisfy { $0 == (method == .clientSecretPost) })
            }
        }
    }

    @Test func `a secret that is shown as a bearer token is shown in no other form`() async throws {
        let refuse: LoopbackServer.Script = { _, _ in [LoopbackServer.json(401, #"{"error":"invalid_client"}"#)] }
        var profile = ProviderProfile(name: "test")
        profile.clientSecretScheme = .bearer
        try await withServer(refuse) { server in
            try await withClient { client in
                let registration = Self.registration(nil, secret: "plain")
                _ = await client.refresh(
                    try refreshRequest(to: server.origin, registration: registration, profile: profile)
                )
            }
            #expect(server.requests.map { $0.header("authorization") } == ["Bearer plain"])
            #expect(server.requests.allSatisfy { !$0.body.contains("client_secret") })
        }
    }

    @Test func `a server that was only busy teaches nothing about client_id`() async throws {
        let answers = [
            LoopbackServer.json(401, #"{"error":"invalid_client"}"#), LoopbackServer.answer(503),
            LoopbackServer.json(200, issuedTokens),
        ]
        try await withServer({ _, index in [answers[min(index, 2)]] }) { server in
            try await withClient { client in
                let request = try refreshRequest(
                    to: server.origin,
                    registration: Self.registration(.clientSecretBasic, secret: "plain")
                )
                #expect(await client.refresh(request).failure?.failureClass == .unanswered)
                #expect(await client.refresh(request).response != nil)
                #expect(server.requests.map { $0.body.contains("client_id") } == [false, true, false])
            }
        }
    }

    @Test func `a secret that is simply wrong ends after all forms, and the first answer is shown`() async throws {
        let refuse: LoopbackServer.Script = { _, index in
            [LoopbackServer.json(401, #"{"error":"invalid_client","error_description":"try \#(index)"}"#)]
        }
        try await withServer(refuse) { server in
            let outcome = try await withClient {
                await $0.refresh(
                    try refreshRequest(to: server.origin, registration: Self.registration(.clientSecretBasic))
                )
            }
            #expect(outcome.failure?.failureClass == .misconfigured)
            #expect(outcome.failure?.detail.oauthErrorDescription == "try 0")
            #expect(outcome.basicCredentialEncoding == nil)
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a refusal without a reason is answered with the raw secret only`() async throws {
        try await withServer({ _, _ in [LoopbackServer.answer(400)] }) { server in
            let outcome = try await withClient {
                await $0.refresh(try refreshRequest(to: server.origin, registration: Self.registration(nil)))
            }
            #expect(outcome.failure?.failureClass == .rejected)
            #expect(server.requests.map { $0.header("authorization") } == [Self.formHeader, Self.rawHeader])
            // Once the form is known there is nothing left to try.
            _ = try await withClient {
                await $0.refresh(
                    try refreshRequest(to: server.origin, registration: Self.registration(nil), encoding: .raw)
                )
            }
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a refused secret that looks the same in both forms is not sent again in another`() async throws {
        try await withServer({ _, _ in [LoopbackServer.answer(400)] }) { server in
            let outcome = try await withClient {
                await $0.refresh(
                    try refreshRequest(
                        to: server.origin,
                        registration: Self.registration(.clientSecretBasic, secret: "plain")
                    )
                )
            }
            #expect(outcome.failure?.failureClass == .rejected)
            #expect(server.requests.count == 1)
        }
    }
}
