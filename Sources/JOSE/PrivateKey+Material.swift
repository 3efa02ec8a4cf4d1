import Crypto
import CryptoExtras
import FoundationEssentials
import TextEncodings

extension PrivateKey.Material {
    /// Nil if `pem`, one block, is no private key of a kind that we know. Each kind's reader refuses the others' keys.
    init?(pem: String) {
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p256(key)
        } else if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p384(key)
        } else if let key = try? P521.Signing.PrivateKey(pemRepresentation: pem) {
            self = .p521(key)
        } else if let key = try? Curve25519.Signing.PrivateKey(pemRepresentation: pem) {
            self = .ed25519(key)
        } else if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) {
            self = .rsa(key)
        } else {
            return nil
        }
    }

    /// Nil if `jwk` has no private half (RFC 7518 §6.2.2, §6.3.2; RFC 8037 §2), or one that does not belong to the public half.
    init?(jwk: JSONObject) {
        let number = { (name: String) in jwk.text(name).flatMap { Base64URL.decode($0.utf8) } }
        guard let secret = number("d") else { return nil }
        switch (jwk.text("kty"), jwk.text("crv")) {
        case ("EC", "P-256"?):
            guard let key = try? P256.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self = .p256(key)
        case ("EC", "P-384"?):
            guard let key = try? P384.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self = .p384(key)
        case ("EC", "P-521"?):
            guard let key = try? P521.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self = .p521(key)
        case ("OKP", "Ed25519"?):
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: secret) else { return nil }
            self = .ed25519(key)
        case ("RSA", _):
            guard let modulus = number("n"), let exponent = number("e"), let p = number("p"), let q = number("q"),
                let key = try? _RSA.Signing.PrivateKey(n: modulus, e: exponent, d: secret, p: p, q: q)
            else { return nil }
            self = .rsa(key)
        default:
            return nil
        }
        // A public half that says something else would be published, and the server would refuse every signature.
        guard let published = PublicKey(jwk: jwk), published.thumbprint == publicKey.thumbprint else { return nil }
    }

    var publicKey: PublicKey {
        switch self {
        case .rsa(let key): .rsa(key.publicKey)
        case .p256(let key): .p256(key.publicKey)
        case .p384(let key): .p384(key.publicKey)
        case .p521(let key): .p521(key.publicKey)
        case .ed25519(let key): .ed25519(key.publicKey)
        }
    }

    /// The caller has seen that the key fits.
    func signature(of input: [UInt8], by algorithm: SigningAlgorithm) throws -> [UInt8] {
        switch self {
        case .rsa(let key):
            let padding: _RSA.Signing.Padding = algorithm.family == .rsaPSS ? .PSS : .insecurePKCS1v1_5
            let signature =
                switch algorithm.hash {
                case .sha256: try key.signature(for: SHA256.hash(data: input), padding: padding)
                case .sha384: try key.signature(for: SHA384.hash(data: input), padding: padding)
                case .sha512: try key.signature(for: SHA512.hash(data: input), padding: padding)
                }
            return Array(signature.rawRepresentation)
        case .p256(let key): return Array(try key.signature(for: SHA256.hash(data: input)).rawRepresentation)
        case .p384(let key): return Array(try key.signature(for: SHA384.hash(data: input)).rawRepresentation)
        case .p521(let key): return Array(try key.signature(for: SHA512.hash(data: input)).rawRepresentation)
        case .ed25519(let key): return Array(try key.signature(for: input))
        }
    }
}
