import Foundation
@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// A server that repeats everything it receives. Secrets may reach that server, but no text that people see.
struct EchoTests {
    /// The secrets, each different. None may occur in what the client says about a request.
    private static let secrets = [
        "client-secret-word", "refresh-token-word", "access-token-word", "code-word", "verifier-word", "nonce-word",
        "device-code-word", "initial-token-word", "management-token-word", "subject-token-word", "actor-token-word",
        "state-word",
    ]

    /// A request of a client, and the secrets that it sends.
    struct Question: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sends: [String]
        let ask: @Sendable (OAuthClient, RequestingClient, _ origin: String) async throws -> Any

        init(
            _ name: String,
            sends: [String],
            _ ask: @escaping @Sendable (OAuthClient, RequestingClient, _ origin: String) async throws -> Any
        ) {
            testDescription = name
            self.sends = sends
            self.ask = ask
        }
    }

    private static let questions = [
        Question("refresh", sends: ["client-secret-word", "refresh-token-word"]) { client, asking, _ in
            let token = RefreshToken(Secret("refresh-token-word"))
            return await client.refresh(RefreshRequest(client: asking, refreshToken: token, hasWorkedBefore: false))
        },
        Question("code exchange", sends: ["client-secret-word", "code-word", "verifier-word"]) { client, asking, _ in
            await client.codes.exchange(
                CodeExchange(
                    client: asking,
                    code: Secret("code-word"),
                    redirectURI: "http://127.0.0.1/",
                    codeVerifier: Secret("verifier-word"),
                    nonce: Secret("nonce-word")
                )
            )
        },
        Question("pushed authorization request", sends: ["client-secret-word", "state-word", "nonce-word"]) {
            client,
            asking,
            _ in
            await client.browser.authorizationURL(
                for: AuthorizationRequest(
                    client: asking,
                    redirectURI: "http://127.0.0.1/",
                    state: Secret("state-word"),
                    nonce: Secret("nonce-word"),
                    codeVerifier: Secret("verifier-word")
                )
            )
        },
        Question("device authorization", sends: ["client-secret-word"]) { client, asking, _ in
            await client.devices.authorize(asking)
        },
        Question("device poll", sends: ["client-secret-word", "device-code-word"]) { client, asking, _ in
            await client.devices.poll(Secret("device-code-word"), as: asking)
        },
        Question("revocation", sends: ["client-secret-word", "refresh-token-word"]) { client, asking, _ in
            await client.revoke(
                RevocationRequest(client: asking, refreshToken: RefreshToken(Secret("refresh-token-word")))
            )
        },
        Question("client credentials", sends: ["client-secret-word"]) { client, asking, _ in
            await client.grants.obtain(ServiceTokenRequest(client: asking, grant: .clientCredentials))
        },
        Question("token exchange", sends: ["client-secret-word", "subject-token-word", "actor-token-word"]) {
            client,
            asking,
            _ in
            var tokens = TokenExchange(subjectToken: Secret("subject-token-word"), subjectTokenType: .accessToken)
            tokens.actorToken = Secret("actor-token-word")
            tokens.actorTokenType = .accessToken
            let subject = SourceToken(account: try #require(AccountName("work")), type: .accessToken)
            let grant = ServiceGrant.tokenExchange(ExchangeTerms(subject: subject))
            return await client.grants.obtain(ServiceTokenRequest(client: asking, grant: grant, exchange: tokens))
        },
        Question("registration", sends: ["initial-token-word"]) { client, asking, _ in
            var request = RegistrationRequest(client: asking, clientName: "a", redirectURIs: ["http://127.0.0.1/"])
            request.initialAccessToken = Secret("initial-token-word")
            return await client.registrar.register(request)
        },
        Question("deregistration", sends: ["management-token-word"]) { client, asking, origin in
            let management = RegistrationManagement(
                uri: origin + "/register/app",
                accessToken: Secret("management-token-word")
            )
            return await client.registrar.deregister(management, of: asking)
        },
    ]

    /// The metadata of the server. It has a revocation endpoint only for the tests that revoke, because other requests
    /// would first try the credentials there, and would send nothing more if the server refused them.
    private static func metadata(of request: LoopbackServer.Request, for question: Question) -> String {
        let origin = "http://" + (request.header("host") ?? "")
        var endpoints = [
            "authorization", "token", "registration", "device_authorization", "pushed_authorization_request",
        ]
        if question.testDescription == "revocation" { endpoints.append("revocation") }
        let members = endpoints.map { "\"\($0)_endpoint\":\"\(origin)/\($0)\"" }
        let pushed = "\"require_pushed_authorization_requests\":true"
        return "{\"issuer\":\"\(origin)\",\(pushed)," + members.joined(separator: ",") + "}"
    }

    /// All that was sent, escaped for a string in JSON.
    private static func echo(of request: LoopbackServer.Request) -> String {
        let text = request.body + " " + (request.header("authorization") ?? "")
        return text.replacing("\\", with: "").replacing("\"", with: "'")
    }

    @Test(arguments: questions)
    func `secrets that a server repeats from a request are not shown`(question: Question) async throws {
        for (status, error) in [(400, "invalid_request"), (400, "invalid_grant"), (401, "invalid_client"), (500, "x")] {
            let script: LoopbackServer.Script = { request, _ in
                if request.line.contains(".well-known") {
                    return [LoopbackServer.json(200, Self.metadata(of: request, for: question))]
                }
                let description = Self.echo(of: request)
                return [
                    LoopbackServer.json(status, "{\"error\":\"\(error)\",\"error_description\":\"\(description)\"}")
                ]
            }
            try await withServer(script) { server in
                var registration = ClientRegistration(clientID: "app", clientSecret: Secret("client-secret-word"))
                registration.authentication = .clientSecretPost
                registration.scopes = ["mail"]
                let asking = try requestingClient(at: server.origin, registration: registration)
                var shown = ""
                try await withClient { client in
                    let outcome = try await question.ask(client, asking, server.origin)
                    dump(outcome, to: &shown)
                    shown += "\(outcome) " + String(reflecting: outcome)
                }
                let sent = server.requests.map { $0.head + $0.body }.joined()
                #expect(question.sends.allSatisfy(sent.contains), "\(error): \(question.sends) in \(sent)")
                #expect(Self.secrets.filter(shown.contains) == [], "\(error): \(shown)")
            }
        }
    }
}
