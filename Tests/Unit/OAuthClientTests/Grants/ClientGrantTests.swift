import Crypto
import Foundation
@testable import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages
@testable import OAuthClient

struct ClientGrantTests {
    private static let issued = LoopbackServer.json(
        200,
        #"{"access_token":"a1","token_type":"Bearer","expires_in":60}"#
    )

    @Test func `a client's own credentials bring an access token`() async throws {
        let (outcome, sent) = try await serviceToken(Self.issued) { $0.refreshParameters = [:] }
        let tokens = try outcome.result.get()
        #expect(tokens.accessToken?.secret == Secret("a1"))
        #expect(tokens.refreshToken == nil)
        #expect(outcome.person == nil)
        #expect(
            sent.map(\.fields) == [
                [
                    "grant_type": ["client_credentials"], "scope": ["one two"], "client_id": ["client"],
                    "client_secret": ["client-secret"],
                ]
            ]
        )
    }

    private func serviceToken(
        _ answer: LoopbackServer.Step,
        for target: TokenTarget? = nil,
        by grant: ServiceGrant = .clientCredentials,
        exchanging exchange: TokenExchange? = nil,
        _ change: (inout ClientRegistration) -> Void = { _ in }
    ) async throws -> (outcome: RefreshOutcome, sent: [LoopbackServer.Request]) {
        var registration = ClientRegistration(clientID: "client", authentication: .clientSecretPost)
        registration.clientSecret = Secret("client-secret")
        registration.serviceGrant = grant
        registration.scopes = ["one", "two"]
        registration.refreshParameters = ["audience": "usual", "resource": "https://api.example"]
        change(&registration)
        let script = signInServer(TestSigner()) { request, _ in request.line == "POST /token" ? answer : nil }
        return try await withServer(script) { [registration] server in
            try await withClient { client in
                let asking = try requestingClient(at: server.origin, registration: registration)
                let request = ServiceTokenRequest(client: asking, grant: grant, target: target, exchange: exchange)
                return (await client.grants.obtain(request), server.requests.filter { $0.line == "POST /token" })
            }
        }
    }

    @Test func `a service account sends what its settings say, and keeps no refresh token`() async throws {
        let answer = LoopbackServer.json(
            200,
            """
            {"access_token":"a1","token_type":"Bearer","expires_in":60,"refresh_token":"r1","refresh_expires_in":9}
            """
        )
        let (outcome, sent) = try await serviceToken(answer)
        let tokens = try outcome.result.get()
        #expect(tokens.accessToken?.secret == Secret("a1") && tokens.refreshToken == nil)
        #expect(tokens.issuance == Issuance(lifetime: .seconds(60)))
        #expect(
            sent.map(\.fields) == [
                [
                    "grant_type": ["client_credentials"], "scope": ["one two"], "audience": ["usual"],
                    "resource": ["https://api.example"], "client_id": ["client"], "client_secret": ["client-secret"],
                ]
            ]
        )
    }

    @Test func `a service account's token target replaces its usual scopes and audience`() async throws {
        let target = try TokenTarget(scopes: ["three"], audience: "other")
        let (_, sent) = try await serviceToken(Self.issued, for: target)
        let fields = try #require(sent.first?.fields)
        #expect(fields["scope"] == ["three"] && fields["audience"] == ["other"])
        #expect(fields["resource"] == ["https://api.example"])
    }

    @Test func `an extra parameter with a name that the request itself uses is not sent`() async throws {
        let (outcome, sent) = try await serviceToken(Self.issued) { $0.refreshParameters = ["grant_type": "password"] }
        let failure = try #require(outcome.failure)
        #expect(failure.failureClass == .misconfigured && sent.isEmpty)
    }

    /// Changes `registration` to a client whose key signs the assertion, and which does not authenticate in addition.
    private static func signing(_ registration: inout ClientRegistration) {
        registration.authentication = nil
        registration.clientSecret = nil
        registration.clientKey = Secret(P256.Signing.PrivateKey().pemRepresentation)
        registration.clientKeyID = "k-1"
        registration.refreshParameters = [:]
    }

    private static func claims(in request: LoopbackServer.Request?) throws -> (
        header: [String: Any], body: [String: Any]
    ) {
        let assertion = try #require(request?.fields["assertion"]?.first)
        let parts = try assertion.split(separator: ".").prefix(2).map { part in
            let bytes = try #require(Base64URL.decode(part.utf8))
            return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        }
        return (parts[0], parts[1])
    }

    @Test func `an assertion names the subject of the token, and no other field names the client`() async throws {
        let terms = AssertionTerms(subject: "ann@example.org", audience: "https://aud.example", lifetime: .seconds(600))
        let (outcome, sent) = try await serviceToken(Self.issued, by: .jwtBearer(terms), Self.signing)
        #expect(try outcome.result.get().accessToken?.secret == Secret("a1"))
        let (header, body) = try Self.claims(in: sent.first)
        #expect(header["alg"] as? String == "ES256" && header["kid"] as? String == "k-1")
        #expect(body["iss"] as? String == "client" && body["sub"] as? String == "ann@example.org")
        #expect(body["aud"] as? String == "https://aud.example" && body["scope"] as? String == "one two")
        let (start, end) = (try #require(body["iat"] as? Int), try #require(body["exp"] as? Int))
        #expect(end - start == 600)
        // RFC 7521 §4.1: a client that does not authenticate need not be named in addition.
        #expect(Set(sent.first?.fields.keys ?? [:].keys) == ["grant_type", "assertion", "scope"])
    }

    @Test func `an assertion without settings names the client and the token endpoint, and is new each time`()
        async throws
    {
        let grant = ServiceGrant.jwtBearer(AssertionTerms())
        let first = try await serviceToken(Self.issued, by: grant, Self.signing).sent.first
        let second = try await serviceToken(Self.issued, by: grant, Self.signing).sent.first
        let (_, body) = try Self.claims(in: first)
        #expect(body["sub"] as? String == "client")
        #expect((body["aud"] as? String)?.hasSuffix("/token") == true)
        #expect(try body["jti"] as? String != Self.claims(in: second).body["jti"] as? String)
    }

    @Test func `a client with a secret sends it in addition to its assertion`() async throws {
        let (_, sent) = try await serviceToken(Self.issued, by: .jwtBearer(AssertionTerms())) {
            Self.signing(&$0)
            $0.clientSecret = Secret("client-secret")
            $0.authentication = .clientSecretPost
        }
        #expect(sent.first?.fields["client_secret"] == ["client-secret"])
    }

    @Test func `a refused assertion counts as misconfiguration, and nothing of it is shown`() async throws {
        let refusal = LoopbackServer.json(400, #"{"error":"invalid_grant","error_description":"Invalid JWT"}"#)
        let (outcome, _) = try await serviceToken(refusal, by: .jwtBearer(AssertionTerms()), Self.signing)
        let failure = try #require(outcome.failure)
        #expect(failure.failureClass == .misconfigured)
        #expect(failure.detail.summary == "the server does not accept the client's assertion")
    }

    @Test(arguments: ["invalid_grant", "interaction_required", "unauthorized_client", "invalid_scope"])
    func `a server's refusal of a service account counts as misconfiguration`(code: String) async throws {
        let (outcome, _) = try await serviceToken(LoopbackServer.json(400, #"{"error":"\#(code)"}"#))
        let failure = try #require(outcome.failure)
        #expect(failure.failureClass == .misconfigured)
        #expect(failure.detail.oauthError == code)
    }

    @Test func `an assertion is exchanged, and is not shown when the server repeats it`() async throws {
        let script = signInServer(TestSigner()) { request, _ in
            guard request.line == "POST /token" else { return nil }
            let assertion = request.fields["assertion"]?.first ?? ""
            return LoopbackServer.json(
                400,
                #"{"error":"invalid_grant","error_description":"\#(assertion) is no good"}"#
            )
        }
        try await withServer(script) { server in
            try await withClient { client in
                var registration = ClientRegistration(clientID: "client")
                Self.signing(&registration)
                let asking = try requestingClient(at: server.origin, registration: registration)
                let request = ServiceTokenRequest(client: asking, grant: .jwtBearer(AssertionTerms()))
                let failure = try #require(await client.grants.obtain(request).failure)
                let sent = server.requests.filter { $0.line == "POST /token" }
                #expect(sent.first?.fields["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"])
                #expect(sent.first?.fields["assertion"]?.first?.isEmpty == false)
                #expect(failure.detail.oauthErrorDescription == "<redacted> is no good")
            }
        }
    }

    @Test func `a token is exchanged as in RFC 8693`() async throws {
        var exchange = TokenExchange(subjectToken: Secret("subject-1"))
        exchange.actorToken = Secret("actor-1")
        exchange.actorTokenType = .jwt
        exchange.requestedTokenType = TokenTypeIdentifier.saml2.rawValue
        let subject = SourceToken(account: try #require(AccountName("work")))
        let answer = """
            {"access_token":"<saml>","issued_token_type":"urn:ietf:params:oauth:token-type:saml2","token_type":"N_A"}
            """
        let (outcome, sent) = try await serviceToken(
            LoopbackServer.json(200, answer),
            for: TokenTarget(resources: ["https://one.example/", "https://two.example/"], audience: "backend"),
            by: .tokenExchange(ExchangeTerms(subject: subject)),
            exchanging: exchange
        )
        #expect(try outcome.result.get().accessToken?.type == "N_A")
        let fields = try #require(sent.first?.fields)
        #expect(fields["grant_type"] == ["urn:ietf:params:oauth:grant-type:token-exchange"])
        #expect(fields["subject_token"] == ["subject-1"])
        #expect(fields["subject_token_type"] == ["urn:ietf:params:oauth:token-type:access_token"])
        #expect(fields["actor_token"] == ["actor-1"])
        #expect(fields["actor_token_type"] == ["urn:ietf:params:oauth:token-type:jwt"])
        #expect(fields["requested_token_type"] == ["urn:ietf:params:oauth:token-type:saml2"])
        #expect(fields["resource"] == ["https://one.example/", "https://two.example/"])
        #expect(fields["audience"] == ["backend"])
    }

    @Test(arguments: [
        ("invalid_target", FailureClass.misconfigured), ("unauthorized_client", .misconfigured),
        ("invalid_scope", .misconfigured), ("temporarily_unavailable", .unavailable),
    ])
    func `a refusal has the same class as that of a refresh`(_ error: String, _ failureClass: FailureClass) async throws
    {
        let (outcome, _) = try await serviceToken(LoopbackServer.json(400, #"{"error":"\#(error)"}"#))
        #expect(outcome.failure?.failureClass == failureClass)
    }
}
