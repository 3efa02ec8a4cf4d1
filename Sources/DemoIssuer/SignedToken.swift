internal import Crypto
internal import CryptoExtras
internal import FoundationEssentials
internal import TextEncodings

/// A signed token (RFC 7515 §3.1) as somebody shows it, with nothing verified.
struct SignedToken {
    let algorithm: String?
    let claims: JSONValue
    /// What the signature is about.
    let signed: [UInt8]
    let signature: Data

    /// Reads a token; nil if it has another form.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.bytes(parts[0]), let body = Self.bytes(parts[1]),
            let signature = Self.bytes(parts[2]), let header = JSONValue(Array(head)[...]),
            let claims = JSONValue(Array(body)[...])
        else { return nil }
        algorithm = header["alg"]?.string
        self.claims = claims
        signed = Array("\(parts[0]).\(parts[1])".utf8)
        self.signature = signature
    }

    /// Decodes base64url (RFC 7515 §2); nil if it is invalid.
    static func bytes(_ text: Substring) -> Data? {
        Base64URL.decode(text.utf8).map { Data($0) }
    }
}

extension SignedToken {
    /// The longest lifetime in seconds that is accepted.
    private static let longestLifetime: Int64 = 3600

    /// The claims of a token with which a client asks for a token for itself or for somebody else (RFC 7523 §3), if `key`
    /// signed it and it is valid now; nil for any other. The check is strict.
    ///
    /// - Parameters:
    ///   - key: a public key in PEM, RSA or P-256.
    ///   - audiences: the issuer identifier and the token endpoint.
    func claims(signedBy key: String, for audiences: Set<String>, at now: Duration) -> JSONValue? {
        let seconds = Int64(now.wholeSeconds)
        guard isSigned(by: key), let end = claims["exp"]?.integer, end > seconds,
            end <= seconds + Self.longestLifetime + 60, (claims["iat"]?.integer ?? seconds) <= seconds + 60,
            let audience = claims["aud"]?.string, audiences.contains(audience)
        else { return nil }
        return claims
    }

    private func isSigned(by key: String) -> Bool {
        switch algorithm {
        case "ES256":
            guard let key = try? P256.Signing.PublicKey(pemRepresentation: key),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: self.signature)
            else { return false }
            return key.isValidSignature(signature, for: signed)
        case "RS256":
            guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: key) else { return false }
            let signature = _RSA.Signing.RSASignature(rawRepresentation: self.signature)
            return key.isValidSignature(signature, for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
        default:
            return false
        }
    }
}
