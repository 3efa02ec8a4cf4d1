import Foundation
import RefreshCore
import Testing

@testable import OAuthClient

struct ClientAuthenticationTests {
    private struct Vectors: Decodable {
        struct Vector: Decodable {
            let id: String
            let input: [String: JSONValue]
            let expect: [String: JSONValue]
        }

        let vectors: [Vector]
    }

    /// A secret whose two forms differ, and both forms of its header for the client `client`.
    private static let secret = "s3cret-%:&+/x"
    private static let formHeader = "Basic " + Data("client:s3cret-%25%3A%26%2B%2Fx".utf8).base64EncodedString()
    private static let rawHeader = "Basic " + Data("client:s3cret-%:&+/x".utf8).base64EncodedString()

    private static func registration(_ method: ClientAuthentication?, secret: String? = secret) -> ClientRegistration {
        ClientRegistration(clientID: "client", authentication: method, clientSecret: secret.map { Secret($0) })
    }

    private func vector(_ id: String) throws -> Vectors.Vector {
        let vectors = try JSONDecoder().decode(Vectors.self, from: Fixture.data("rfc-vectors.json")).vectors
        return try #require(vectors.first { $0.id == id })
    }

    @Test func `the Basic header of RFC 6749 is reproduced`() throws {
        let vector = try vector("basic-simple")
        let registration = ClientRegistration(
            clientID: try #require(vector.input["client_id"]?.text),
            clientSecret: Secret(try #require(vector.input["client_secret"]?.text))
        )
        let credentials = ClientCredentials(
            registration: registration,
            method: .clientSecretBasic,
            encoding: .formEncoded,
            repeatsClientID: false
        )
        #expect(credentials.authorization == vector.expect["authorization"]?.text)
        #expect(!credentials.differsByEncoding)
        #expect(credentials.fields.isEmpty)
    }

    @Test func `the form encoding of RFC 6749 appendix B is reproduced`() throws {
        let vector = try vector("form-encoding")
        #expect(FormEncoding.encode(try #require(vector.input["value"]?.text)) == vector.expect["encoded"]?.text)
    }

    struct Choice: Sendable {
        var own: ClientAuthentication?
        var secret: String?
        var offered: [String]?
        let method: ClientAuthentication
    }

    @Test(arguments: [
        Choice(secret: "s", method: .clientSecretBasic),
        Choice(method: ClientAuthentication.none),
        Choice(offered: ["client_secret_basic"], method: ClientAuthentication.none),
        Choice(secret: "s", offered: ["client_secret_post"], method: .clientSecretPost),
        Choice(secret: "s", offered: ["client_secret_post", "client_secret_basic"], method: .clientSecretBasic),
        Choice(secret: "s", offered: ["private_key_jwt"], method: .clientSecretBasic),
        Choice(own: .clientSecretPost, secret: "s", offered: ["client_secret_basic"], method: .clientSecretPost),
        Choice(own: ClientAuthentication.none, secret: "s", method: ClientAuthentication.none),
    ])
    func `the method follows registration, secret and metadata`(_ choice: Choice) {
        let registration = Self.registration(choice.own, secret: choice.secret)
        let method = ClientCredentials.method(registration, profile: nil, offered: choice.offered)
        #expect(method == choice.method)
    }

    @Test func `a profile's method counts when the registration has none`() {
        var profile = ProviderProfile(name: "p")
        profile.authentication = .clientSecretPost
        let method = { ClientCredentials.method(Self.registration($0), profile: profile, offered: nil) }
        #expect(method(nil) == .clientSecretPost)
        #expect(method(.clientSecretBasic) == .clientSecretBasic)
    }

    @Test func `post puts id and secret in the body and nothing in the header`() async throws {
        let request = try await onlyRequest(Self.registration(.clientSecretPost))
        #expect(request.body.hasSuffix("&client_id=client&client_secret=s3cret-%25%3A%26%2B%2Fx"))
        #expect(request.header("authorization") == nil)
    }

    @Test func `a public client sends its id only, even if it has a secret`() async throws {
        let request = try await onlyRequest(Self.registration(ClientAuthentication.none))
        #expect(request.body.hasSuffix("&client_id=client"))
        #expect(!request.body.contains("secret-"))
        #expect(request.header("authorization") == nil)
    }

    private func onlyRequest(_ registration: ClientRegistration) async throws -> LoopbackServer.Request {
        try await withServer({ _, _ in [LoopbackServer.json(200, issuedTokens)] }) { server in
            let outcome = try await withClient {
                await $0.refresh(try refreshRequest(to: server.origin, registration: registration))
            }
            #expect(outcome.response != nil)
            #expect(server.requests.count == 1)
            return try #require(server.requests.first)
        }
    }

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
