internal import Crypto
internal import CryptoExtras
internal import FoundationEssentials

/// Checks a signed token with which a client asks for a token for itself or for somebody else (RFC 7523 §3). The check
/// is strict.
struct AssertionCheck {
    /// The claims of a valid token.
    struct Claims: Decodable {
        let iss: String
        let sub: String?
        let aud: String
        let exp: Int
        let iat: Int?
        let jti: String?
        let scope: String?
    }

    private struct Header: Decodable {
        let alg: String
    }

    /// The longest lifetime in seconds that is accepted.
    private static let longestLifetime = 3600

    /// The accepted audiences: the issuer identifier and the token endpoint.
    let audiences: Set<String>
    let now: Duration

    /// The issuer that the token claims, not verified; nil if the token cannot be read.
    static func issuer(of token: String) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let body = IDTokenSigner.bytes(parts[1]) else { return nil }
        return try? JSONDecoder().decode(Claims.self, from: body).iss
    }

    /// The claims of a token that `key` signed and that is valid for this server now; nil for any other.
    ///
    /// - Parameter key: a public key in PEM, RSA or P-256.
    func claims(of token: String, signedBy key: String) -> Claims? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = IDTokenSigner.bytes(parts[0]), let body = IDTokenSigner.bytes(parts[1]),
            let signature = IDTokenSigner.bytes(parts[2]),
            let header = try? JSONDecoder().decode(Header.self, from: head),
            Self.isValid(signature, of: Array("\(parts[0]).\(parts[1])".utf8), by: header.alg, key),
            let claims = try? JSONDecoder().decode(Claims.self, from: body)
        else { return nil }
        let seconds = now.wholeSeconds
        let isTimely = claims.exp > seconds && claims.exp <= seconds + Self.longestLifetime + 60
        guard isTimely, (claims.iat ?? seconds) <= seconds + 60, audiences.contains(claims.aud) else { return nil }
        return claims
    }

    private static func isValid(_ signature: Data, of input: [UInt8], by algorithm: String, _ key: String) -> Bool {
        switch algorithm {
        case "ES256":
            guard let key = try? P256.Signing.PublicKey(pemRepresentation: key),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: input)
        case "RS256":
            guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: key) else { return false }
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: SHA256.hash(data: input), padding: .insecurePKCS1v1_5)
        default:
            return false
        }
    }
}
