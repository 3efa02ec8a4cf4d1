internal import Crypto
internal import TextEncodings

/// Signs ID tokens (OpenID Connect Core §2). Each server has a new key.
struct IDTokenSigner: Sendable {
    private let key = P256.Signing.PrivateKey()
    private static let keyID = "demo-key-1"

    /// Signs an ID token; nil if signing fails, which does not happen.
    func idToken(
        _ issuer: String,
        _ subject: String,
        _ clientID: String,
        nonce: String?,
        code: String? = nil,
        policy: String? = nil,
        lifetime: Duration,
        at now: Duration
    ) -> String? {
        let header = [("alg", "ES256"), ("typ", "JWT"), ("kid", Self.keyID)].map { ($0.0, JSONText.quote($0.1)) }
        let claims = JSONText.object([
            ("iss", JSONText.quote(issuer)),
            ("sub", JSONText.quote(subject)),
            ("aud", JSONText.quote(clientID)),
            ("exp", "\((now + lifetime).wholeSeconds)"),
            ("iat", "\(now.wholeSeconds)"),
            ("auth_time", "\(now.wholeSeconds)"),
            ("nonce", nonce.map(JSONText.quote)),
            ("c_hash", code.map { JSONText.quote(Base64URL.encode(SHA256.hash(data: Array($0.utf8)).prefix(16))) }),
            ("tfp", policy.map(JSONText.quote)),
        ])
        let signed = Base64URL.encode(JSONText.object(header).utf8) + "." + Base64URL.encode(claims.utf8)
        guard let signature = try? key.signature(for: Array(signed.utf8)) else { return nil }
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// The claims of one of our tokens, even if it has expired; nil if the token is not ours.
    func claims(of token: String) -> JSONValue? {
        guard let token = SignedToken(token),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            key.publicKey.isValidSignature(signature, for: token.signed)
        else { return nil }
        return token.claims
    }

    /// The key set with which clients verify signatures (RFC 7517 §5).
    var keySet: Answer {
        let point = key.publicKey.rawRepresentation
        let members = [
            ("kty", "EC"), ("crv", "P-256"), ("alg", "ES256"), ("use", "sig"), ("kid", Self.keyID),
            ("x", Base64URL.encode(point.prefix(32))), ("y", Base64URL.encode(point.suffix(32))),
        ]
        return .json([("keys", "[" + JSONText.object(members.map { ($0.0, JSONText.quote($0.1)) }) + "]")])
    }
}
