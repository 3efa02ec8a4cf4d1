import Crypto
import Foundation
@testable import RefreshCore
import Testing
import TextEncodings

@testable import OAuthMessages
@testable import OAuthClient

/// ID tokens of attackers without the server's key, at the end of a complete code exchange. `JOSETests` has more of
/// them, including RSA.
struct ForgedIDTokenTests {
    /// How an attacker signs, and what the header says about it.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let what: String
        /// The header, from the server's own key, whose public half everybody can know.
        let header: @Sendable (TestSigner) -> [String: JSONTree]
        /// The signature, from the public half of the server's own key and the text to sign.
        let signature: @Sendable (TestSigner, Data) throws -> Data
        var testDescription: String { what }

        init(
            _ what: String,
            _ header: @escaping @Sendable (TestSigner) -> [String: JSONTree],
            _ signature: @escaping @Sendable (TestSigner, Data) throws -> Data
        ) {
            (self.what, self.header, self.signature) = (what, header, signature)
        }
    }

    private static let forger = P256.Signing.PrivateKey()

    private static func mac(_ key: Data) -> @Sendable (TestSigner, Data) -> Data {
        { _, text in Data(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: key))) }
    }

    private static func byForger(_: TestSigner, _ text: Data) throws -> Data {
        try forger.signature(for: text).rawRepresentation
    }

    private static func header(_ algorithm: String, _ more: [String: JSONTree] = [:])
        -> @Sendable (TestSigner) ->
        [String: JSONTree]
    {
        { signer in ["alg": .string(algorithm), "kid": .string(signer.keyID)].merging(more) { $1 } }
    }

    private static var ownKey: JSONTree {
        let point = forger.publicKey.rawRepresentation
        return .object([
            "kty": .string("EC"), "crv": .string("P-256"), "kid": .string("mine"),
            "x": .string(Base64URL.encode(point.prefix(32))), "y": .string(Base64URL.encode(point.suffix(32))),
        ])
    }

    private static let forgeries: [Forgery] =
        ["none", "None", "NONE", ""].map { name in
            Forgery("alg '\(name)'", header(name)) { _, _ in Data() }
        } + [
            Forgery("no alg", { _ in [:] }, { _, _ in Data() }),
            // Key confusion: a public key, which everybody can know, used as a shared secret.
            Forgery("HS256 by the public key as PEM", header("HS256")) { signer, text in
                mac(Data(signer.key.publicKey.pemRepresentation.utf8))(signer, text)
            },
            Forgery("HS256 by the public key as DER", header("HS256")) { signer, text in
                mac(signer.key.publicKey.derRepresentation)(signer, text)
            },
            Forgery("HS256 by the public key as it is", header("HS256")) { signer, text in
                mac(signer.key.publicKey.x963Representation)(signer, text)
            },
            Forgery("HS256 by the published key set", header("HS256")) { signer, text in
                mac(Data(signer.keySet.utf8))(signer, text)
            },
            Forgery("HS256 by the client's secret", header("HS256"), mac(Data("client-secret".utf8))),
            Forgery("HS256 by an empty key", header("HS256"), mac(Data())),
            Forgery("a key of the forger's own, by its name", header("ES256"), byForger),
            Forgery("a key in the header", header("ES256", ["jwk": ownKey, "kid": .string("mine")]), byForger),
            Forgery(
                "a key in the header, and none named",
                { _ in ["alg": .string("ES256"), "jwk": ownKey] },
                byForger
            ),
        ]
        + ["mine", "", "../../../../dev/null", "key-1' OR '1'='1", "http://127.0.0.1:1/keys", "key-1\u{0}"].map {
            name in
            Forgery("the key name '\(name)'", header("ES256", ["kid": .string(name)]), byForger)
        }

    /// The result of a code exchange whose ID token has this header and signature. The server publishes the key of
    /// `signer`.
    private func exchange(
        _ header: @escaping @Sendable (TestSigner) -> [String: JSONTree],
        _ signature: @escaping @Sendable (TestSigner, Data) throws -> Data
    ) async throws -> (outcome: GrantOutcome, requests: [LoopbackServer.Request]) {
        let signer = TestSigner()
        let script = signInServer(signer) { request, _ in
            guard request.line == "POST /token" else { return nil }
            let claims = JSONTree.object(TestSigner.claims(request.origin))
            let input = [JSONTree.object(header(signer)), claims].map { Base64URL.encode($0.bytes) }
            let text = input.joined(separator: ".")
            let token = text + "." + Base64URL.encode(try signature(signer, Data(text.utf8)))
            let body = #"{"access_token":"a1","token_type":"Bearer","refresh_token":"r1","id_token":"\#(token)"}"#
            return LoopbackServer.json(200, body)
        }
        return try await withServer(script) { server in
            let registration = ClientRegistration(
                clientID: "client",
                authentication: .clientSecretPost,
                clientSecret: Secret("client-secret"),
                scopes: ["openid"]
            )
            let outcome = try await withClient {
                await $0.codes.exchange(try codeExchange(at: server.origin, registration: registration))
            }
            return (outcome, server.requests)
        }
    }

    @Test(arguments: forgeries)
    func `a forged ID token makes the sign-in fail, and the tokens with it are dropped`(_ forgery: Forgery) async throws
    {
        let (outcome, requests) = try await exchange(forgery.header, forgery.signature)
        #expect(outcome.grant == nil)
        let summary = try #require(outcome.failure).detail.summary
        #expect(summary.hasPrefix("the server's ID token is invalid: "), "\(summary)")
        #expect(!requests.contains { $0.line == "POST /revoke" })
        // The keys were just fetched. An attacker cannot make us fetch them again and again.
        #expect(requests.filter { $0.line == "GET /keys" }.count == 1)
    }

    @Test(arguments: ["jku", "x5u"])
    func `nothing is fetched from a key address in an id_token`(_ name: String) async throws {
        let point = Self.ownKey
        try await withServer({ _, _ in [LoopbackServer.json(200, #"{"keys":[\#(point)]}"#)] }) { thief in
            let address = JSONTree.string(thief.origin + "/keys")
            let header = Self.header("ES256", [name: address, "kid": .string("mine")])
            let outcome = try await exchange(header, Self.byForger).outcome
            #expect(outcome.grant == nil)
            #expect(thief.requests.isEmpty)
        }
    }

    /// The result of checking an ID token that comes through the browser, without a code.
    private func identify(
        _ header: @escaping @Sendable (TestSigner) -> [String: JSONTree],
        _ signature: @escaping @Sendable (TestSigner, Data) throws -> Data,
        claims: [String: JSONTree] = [:]
    ) async throws -> Result<CheckedIDToken, RefreshFailure> {
        let signer = TestSigner()
        return try await withServer(signInServer(signer) { _, _ in nil }) { server in
            let claims = JSONTree.object(TestSigner.claims(server.origin, claims))
            let input = [JSONTree.object(header(signer)), claims].map { Base64URL.encode($0.bytes) }
            let text = input.joined(separator: ".")
            let token = text + "." + Base64URL.encode(try signature(signer, Data(text.utf8)))
            let exchange = try codeExchange(at: server.origin)
            let (asking, nonce) = (exchange.client, exchange.nonce)
            return try await withClient {
                await $0.codes.identify(Secret(token), as: asking, nonce: nonce, maxAge: nil)
            }
        }
    }

    @Test(arguments: forgeries)
    func `a forged ID token that comes through the browser alone is refused`(_ forgery: Forgery) async throws {
        let result = try await identify(forgery.header, forgery.signature)
        #expect(throws: RefreshFailure.self) { try result.get() }
    }

    @Test(
        arguments: [
            ["nonce": .string("of-another-sign-in")], ["nonce": .null], ["aud": .string("another")],
            ["exp": .number(1)],
            ["iss": .string("https://evil.example")],
        ] as [[String: JSONTree]]
    )
    func `an ID token of another sign-in, client or server is refused`(claims: [String: JSONTree]) async throws {
        let sign = { @Sendable (signer: TestSigner, text: Data) in
            try signer.key.signature(for: text).rawRepresentation
        }
        #expect(try await identify(Self.header("ES256"), sign).get().claims.subject == "alice")
        let result = try await identify(Self.header("ES256"), sign, claims: claims)
        #expect(throws: RefreshFailure.self) { try result.get() }
    }

    @Test func `the same exchange with the server's signature succeeds`() async throws {
        let own = try await exchange(Self.header("ES256")) { signer, text in
            try signer.key.signature(for: text).rawRepresentation
        }
        #expect(own.outcome.grant?.subject == "alice")
    }
}
