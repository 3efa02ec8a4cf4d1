import Crypto
import Foundation
@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// Request objects (RFC 9101), at servers that accept only signed requests.
struct RequestObjectTests {
    private static let key = P256.Signing.PrivateKey()

    private static func registration(key: Secret?) -> ClientRegistration {
        var registration = ClientRegistration(clientID: "client")
        registration.authorizationDetails = #"[{"type":"accounts","actions":["read"]}]"#
        registration.clientKey = key
        registration.clientKeyID = "k1"
        return registration
    }

    /// The requests that a server that publishes `extra` receives.
    private func request(
        key: Secret? = Secret(key.pemRepresentation),
        publishing extra: @escaping @Sendable (String) -> String = { _ in "" }
    ) async throws -> (result: Result<AuthorizationURL, RefreshFailure>, pushed: LoopbackServer.Request?) {
        try await withServer({ request, _ in
            let origin = request.origin
            switch request.line {
            case "GET /.well-known/openid-configuration":
                let document = """
                    {"issuer":"\(origin)","token_endpoint":"\(origin)/token","authorization_endpoint":"\(origin)/authorize",
                    "request_object_signing_alg_values_supported":["ES256"],"require_signed_request_object":true\(extra(origin))}
                    """
                return [LoopbackServer.json(200, document)]
            case "POST /par": return [LoopbackServer.json(201, #"{"request_uri":"urn:example:1","expires_in":60}"#)]
            default: return [LoopbackServer.answer(404)]
            }
        }) { server in
            try await withClient { client in
                let registration = Self.registration(key: key)
                let request = try authorizationRequest(at: server.origin, profile: nil, registration: registration) {
                    $0.scopes = ["openid", "mail"]
                }
                let result = await client.browser.authorizationURL(for: request)
                return (result, server.requests.first { $0.line == "POST /par" })
            }
        }
    }

    /// The claims of a token that `key` has signed.
    private func claims(_ token: String?) throws -> [String: String] {
        let parts = try #require(token).split(separator: ".")
        let decoded = try parts.map { part in
            let text = String(part).replacing("-", with: "+").replacing("_", with: "/")
            return try #require(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)))
        }
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: decoded[2])
        #expect(Self.key.publicKey.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8)))
        let object = try JSONSerialization.jsonObject(with: decoded[1]) as? [String: Any]
        return (object ?? [:]).compactMapValues { value in
            if let text = value as? String { return text }
            let list = (value as? [Any]).flatMap {
                try? JSONSerialization.data(withJSONObject: $0, options: .sortedKeys)
            }
            return list.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test func `the request is signed, and nothing important is outside the signature`() async throws {
        let url = try await request().result.get()
        #expect(Set(url.parameters.keys) == ["client_id", "request", "response_type", "scope"])
        let claims = try claims(url.parameters["request"]?.first)
        #expect(claims["iss"] == "client")
        #expect(claims["aud"] == url.issuer)
        #expect(claims["state"] == "state-1")
        #expect(claims["code_challenge"] == exampleChallenge)
        #expect(claims["scope"] == "openid mail")
        // RFC 9396 §3: a JSON value, not a string.
        #expect(claims["authorization_details"] == #"[{"actions":["read"],"type":"accounts"}]"#)
    }

    @Test func `a signed request is pushed if the server wants that, too`() async throws {
        let (result, pushed) = try await request {
            #","pushed_authorization_request_endpoint":"\#($0)/par","require_pushed_authorization_requests":true"#
        }
        let names: Set = ["response_type", "scope", "client_id", "request_uri", "redirect_uri"]
        #expect(try Set(result.get().parameters.keys) == names)
        let form = formFields(try #require(pushed).body)
        // The client authenticates in addition, as always.
        #expect(Set(form.keys) == ["client_id", "request", "client_assertion", "client_assertion_type"])
        #expect(try claims(form["request"]?.first)["state"] == "state-1")
    }

    @Test(arguments: [nil, "no key"])
    func `without a key that can sign the request nothing is sent`(key: String?) async throws {
        guard case .failure(let failure) = try await request(key: key.map { Secret($0) }).result else {
            Issue.record("it was sent")
            return
        }
        #expect(failure.failureClass == .misconfigured)
    }
}
