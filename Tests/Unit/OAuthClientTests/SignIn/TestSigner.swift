import Crypto
import Foundation
@testable import RefreshCore
import TextEncodings

@testable import OAuthClient
@testable import OAuthMessages

/// Signs ID tokens as an authorization server does, by ES256.
struct TestSigner: Sendable {
    let key = P256.Signing.PrivateKey()
    var keyID = "key-1"

    /// The key set that a server publishes.
    var keySet: String {
        let point = key.publicKey.rawRepresentation
        let coordinates = (x: Base64URL.encode(point.prefix(32)), y: Base64URL.encode(point.suffix(32)))
        return """
            {"keys":[{"kty":"EC","crv":"P-256","use":"sig","kid":"\(keyID)","x":"\(coordinates.x)","y":"\(coordinates.y)"}]}
            """
    }

    /// A signed token with `claims`, for the algorithm of this name.
    func token(_ claims: [String: JSONTree], algorithm: String = "ES256") throws -> String {
        let header = JSONTree.object(["alg": .string(algorithm), "kid": .string(keyID)])
        let input = Base64URL.encode(header.bytes) + "." + Base64URL.encode(JSONTree.object(claims).bytes)
        guard algorithm == "ES256" else { return input + "." }
        let signature = try key.signature(for: Data(input.utf8))
        return input + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// The claims of a server at `origin` about the user `alice` for the client `client`.
    static func claims(_ origin: String, _ change: [String: JSONTree] = [:]) -> [String: JSONTree] {
        let now = Double(Int64(Date.now.timeIntervalSince1970))
        let claims: [String: JSONTree] = [
            "iss": .string(origin), "sub": .string("alice"), "aud": .string("client"), "iat": .number(now),
            "exp": .number(now + 600), "nonce": .string("nonce-1"),
        ]
        return claims.merging(change) { $1 }
    }
}

extension LoopbackServer.Request {
    /// The server's address, as the client sees it.
    var origin: String { "http://" + (header("host") ?? "") }

    /// The form of the body.
    var fields: [String: [String]] { formFields(body) }
}

/// A server with metadata and keys. `answers` are the steps for the other requests, by line.
func signInServer(
    _ signer: TestSigner,
    _ answers: @escaping @Sendable (LoopbackServer.Request, _ index: Int) throws -> LoopbackServer.Step?
) -> LoopbackServer.Script {
    { request, index in
        let origin = request.origin
        if let answer = try? answers(request, index) { return [answer] }
        switch request.line {
        case "GET /.well-known/openid-configuration":
            return [
                LoopbackServer.json(
                    200,
                    """
                    {"issuer":"\(origin)","token_endpoint":"\(origin)/token","authorization_endpoint":"\(origin)/authorize",
                    "device_authorization_endpoint":"\(origin)/device","revocation_endpoint":"\(origin)/revoke",
                    "jwks_uri":"\(origin)/keys"}
                    """
                )
            ]
        case "GET /keys": return [LoopbackServer.json(200, signer.keySet)]
        case "POST /revoke": return [LoopbackServer.json(200, "")]
        default: return [LoopbackServer.answer(404)]
        }
    }
}

func codeExchange(
    at origin: String,
    registration: ClientRegistration = ClientRegistration(clientID: "client", scopes: ["openid"]),
    profile: ProviderProfile? = nil,
    _ change: (inout CodeExchange) -> Void = { _ in }
) throws -> CodeExchange {
    var request = CodeExchange(
        client: try requestingClient(at: origin, registration: registration, profile: profile),
        code: Secret("code-1"),
        redirectURI: "http://127.0.0.1:1234/",
        codeVerifier: Secret(exampleVerifier),
        nonce: Secret("nonce-1")
    )
    change(&request)
    return request
}

extension GrantOutcome {
    var grant: ObtainedGrant? { try? result.get() }

    var failure: RefreshFailure? {
        switch result {
        case .success: nil
        case .failure(let failure): failure
        }
    }
}
