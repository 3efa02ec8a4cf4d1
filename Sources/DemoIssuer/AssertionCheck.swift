internal import Crypto
internal import CryptoExtras
internal import TextEncodings

/// Checks a signed token with which a client asks for a token for itself or for somebody else (RFC 7523 §3). The check
/// is strict.
struct AssertionCheck {
    /// The longest lifetime in seconds that is accepted.
    private static let longestLifetime: Int64 = 3600

    /// The accepted audiences: the issuer identifier and the token endpoint.
    let audiences: Set<String>
    let now: Duration

    /// The claims of a token that `key` signed and that is valid for this server now; nil for any other.
    ///
    /// - Parameter key: a public key in PEM, RSA or P-256.
    func claims(of token: String, signedBy key: String) -> JSONText? {
        guard let token = SignedToken(token), Self.isValid(token, by: key) else { return nil }
        let seconds = Int64(now.wholeSeconds)
        guard let end = token.claims["exp"]?.integer, end > seconds, end <= seconds + Self.longestLifetime + 60,
            (token.claims["iat"]?.integer ?? seconds) <= seconds + 60,
            let audience = token.claims["aud"]?.string, audiences.contains(audience)
        else { return nil }
        return token.claims
    }

    private static func isValid(_ token: SignedToken, by key: String) -> Bool {
        switch token.algorithm {
        case "ES256":
            guard let key = try? P256.Signing.PublicKey(pemRepresentation: key),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
            else { return false }
            return key.isValidSignature(signature, for: token.signed)
        case "RS256":
            guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: key) else { return false }
            let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
            return key.isValidSignature(signature, for: SHA256.hash(data: token.signed), padding: .insecurePKCS1v1_5)
        default:
            return false
        }
    }
}
