internal import Crypto
internal import FoundationEssentials
internal import TextEncodings

/// Signs ID tokens (OpenID Connect Core §2). Each server has a new key.
struct IDTokenSigner: Sendable {
    private let key = P256.Signing.PrivateKey()
    private static let keyID = "demo-key-1"

    private struct Header: Encodable {
        let alg = "ES256"
        let typ = "JWT"
        let kid = IDTokenSigner.keyID
    }

    private struct Claims: Encodable {
        let iss: String
        let sub: String
        let aud: String
        let exp: Int
        let iat: Int
        let authTime: Int
        let nonce: String?
        let cHash: String?
        let tfp: String?
    }

    private struct Key: Encodable {
        let kty = "EC"
        let crv = "P-256"
        let alg = "ES256"
        let use = "sig"
        let kid = IDTokenSigner.keyID
        let x: String
        let y: String
    }

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
        let claims = Claims(
            iss: issuer,
            sub: subject,
            aud: clientID,
            exp: (now + lifetime).wholeSeconds,
            iat: now.wholeSeconds,
            authTime: now.wholeSeconds,
            nonce: nonce,
            cHash: code.map { Base64URL.encode(SHA256.hash(data: Array($0.utf8)).prefix(16)) },
            tfp: policy
        )
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        guard let header = try? encoder.encode(Header()), let body = try? encoder.encode(claims) else { return nil }
        let signed = Base64URL.encode(header) + "." + Base64URL.encode(body)
        guard let signature = try? key.signature(for: Array(signed.utf8)) else { return nil }
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }

    /// The client that one of our tokens was issued for, even if it has expired; nil if the token is not ours.
    func audience(of token: String) -> String? { audiences(of: token)?.aud }

    /// The subject of one of our tokens, even if it has expired; nil if the token is not ours.
    func subject(of token: String) -> String? { audiences(of: token)?.sub }

    private func audiences(of token: String) -> Audience? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let body = Self.bytes(parts[1]), let raw = Self.bytes(parts[2]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw),
            key.publicKey.isValidSignature(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return try? JSONDecoder().decode(Audience.self, from: body)
    }

    private struct Audience: Decodable {
        let aud: String
        let sub: String
    }

    /// The subject of anybody's token, without verification; nil if it is not a token.
    static func subject(of token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let body = bytes(parts[1]) else { return nil }
        return try? JSONDecoder().decode(Subject.self, from: body).sub
    }

    private struct Subject: Decodable {
        let sub: String
    }

    /// Decodes base64url (RFC 7515 §2); nil if it is invalid.
    static func bytes(_ text: Substring) -> Data? {
        Base64URL.decode(text.utf8).map { Data($0) }
    }

    /// The key set with which clients verify signatures (RFC 7517 §5).
    var keySet: Answer {
        let point = key.publicKey.rawRepresentation
        return .json(["keys": [Key(x: Base64URL.encode(point.prefix(32)), y: Base64URL.encode(point.suffix(32)))]])
    }
}
