import RefreshCore
import Synchronization
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Finding out in which form a server accepts the credentials.
extension ClientAuthenticationTests {
    /// The answers of a server that accepts only requests for which `isGood` is true.
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
    func `the raw secret is sent after the standard form was refused, and the form is remembered`(
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

    @Test func `the encoded form is remembered after the first successful answer`() async throws {
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

    @Test func `invalid_grant also shows the encoding, and nothing is sent a second time`() async throws {
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

    @Test func `a server that wants client_id in addition to Basic gets it, and from then on always`() async throws {
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

    @Test func `a client registered for client_secret_post is found out, and the next request uses it directly`()
        async throws
    {
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

    @Test(arguments: [("client_secret=plain", true), ("client_id=client", false)])
    func `a form that was found out is given up when the server accepts another one again`(
        _ mark: String,
        isInBodyOnly: Bool
    ) async throws {
        let isChanged = Atomic(false)
        let isGood = { @Sendable (request: LoopbackServer.Request) in
            let isBasic = request.header("authorization") != nil
            return isChanged.load(ordering: .sequentiallyConsistent)
                ? isBasic && !request.body.contains("client_id")
                : request.body.contains(mark) && isBasic != isInBodyOnly
        }
        try await withServer(script(isGood: isGood)) { server in
            try await withClient { client in
                let request = try refreshRequest(
                    to: server.origin,
                    registration: Self.registration(nil, secret: "plain")
                )
                #expect(await client.refresh(request).response != nil)
                isChanged.store(true, ordering: .sequentiallyConsistent)
                let before = server.requests.count
                #expect(await client.refresh(request).response != nil)
                #expect(server.requests.count == before + 2)
            }
        }
    }

    @Test func `a form that was found out is kept when the server refuses without a reason`() async throws {
        let isRefusing = Atomic(false)
        let script: LoopbackServer.Script = { request, _ in
            guard request.header("authorization") == nil, request.body.contains("client_secret=") else {
                return [LoopbackServer.json(401, #"{"error":"invalid_client"}"#)]
            }
            return isRefusing.load(ordering: .sequentiallyConsistent)
                ? [LoopbackServer.json(400, #"{"error":"out_of_order"}"#)] : [LoopbackServer.json(200, issuedTokens)]
        }
        try await withServer(script) { server in
            try await withClient { client in
                let request = try refreshRequest(to: server.origin, registration: Self.registration(nil))
                #expect(await client.refresh(request).response != nil)
                isRefusing.store(true, ordering: .sequentiallyConsistent)
                for _ in 1...2 {
                    let before = server.requests.count
                    #expect(await client.refresh(request).failure?.failureClass == .rejected)
                    #expect(server.requests.count == before + 1)
                }
            }
        }
    }

    @Test(arguments: [BasicCredentialEncoding.raw, .formEncoded])
    func `a known encoding is replaced when the server accepts only the other one`(
        _ known: BasicCredentialEncoding
    ) async throws {
        let (old, new) =
            known == .raw ? (Self.rawHeader, Self.formHeader) : (Self.formHeader, Self.rawHeader)
        try await withServer(script { $0.header("authorization") == new }) { server in
            let outcome = try await withClient {
                let registration = Self.registration(.clientSecretBasic)
                return await $0.refresh(
                    try refreshRequest(to: server.origin, registration: registration, encoding: known)
                )
            }
            #expect(outcome.response != nil)
            #expect(outcome.basicCredentialEncoding == (known == .raw ? .formEncoded : .raw))
            #expect(server.requests.map { $0.header("authorization") } == [old, new])
        }
    }

    @Test func `a configured method is never replaced by another`() async throws {
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

    @Test func `a secret configured as bearer token is sent in no other form`() async throws {
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

    @Test func `a busy server's answer does not change how client_id is sent`() async throws {
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

    @Test func `a wrong secret is tried in all forms, and the first answer is reported`() async throws {
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

    @Test func `after a refusal without a reason only the raw secret is tried`() async throws {
        try await withServer({ _, _ in [LoopbackServer.answer(400)] }) { server in
            let outcome = try await withClient {
                await $0.refresh(try refreshRequest(to: server.origin, registration: Self.registration(nil)))
            }
            #expect(outcome.failure?.failureClass == .rejected)
            #expect(server.requests.map { $0.header("authorization") } == [Self.formHeader, Self.rawHeader])
            // Once the form is known, there is nothing left to try.
            _ = try await withClient {
                await $0.refresh(
                    try refreshRequest(to: server.origin, registration: Self.registration(nil), encoding: .raw)
                )
            }
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a refused secret with the same text in both forms is not sent again`() async throws {
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
