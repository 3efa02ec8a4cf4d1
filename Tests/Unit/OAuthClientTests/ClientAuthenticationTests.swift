import Foundation
@testable import RefreshCore
import Testing
import TextEncodings

@testable import OAuthClient
@testable import OAuthMessages

struct ClientAuthenticationTests {
    private struct Vectors: Decodable {
        struct Vector: Decodable {
            let id: String
            let input: [String: JSONTree]
            let expect: [String: JSONTree]
        }

        let vectors: [Vector]
    }

    /// A secret whose two forms differ, and both forms of its header for the client `client`.
    static let secret = "s3cret-%:&+/x"
    static let formHeader = "Basic " + Data("client:s3cret-%25%3A%26%2B%2Fx".utf8).base64EncodedString()
    static let rawHeader = "Basic " + Data("client:s3cret-%:&+/x".utf8).base64EncodedString()

    static func registration(_ method: ClientAuthentication?, secret: String? = secret) -> ClientRegistration {
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
        #expect(credentials.fields(nil).isEmpty)
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

    @Test func `client_secret_post sends id and secret in the body and nothing in the header`() async throws {
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
}
