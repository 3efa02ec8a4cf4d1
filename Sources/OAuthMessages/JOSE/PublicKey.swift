import Crypto
import CryptoExtras
import FoundationEssentials
import TextEncodings

/// A key of an authorization server that verifies signatures.
enum PublicKey: Sendable {
    /// At least 2048 bits (RFC 7518 §3.3); the library refuses shorter keys.
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)
    case p521(P521.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)

    /// The longest modulus that is accepted, in bytes (8192 bits). The time to verify grows with its square, and real
    /// keys have at most half of it.
    private static let modulusLimit = 1024
    /// The longest exponent that is accepted, in bytes. RFC 7518 and all servers use 65537.
    private static let exponentLimit = 4

    /// Reads a JWK (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2); nil for unknown kinds and for invalid numbers.
    ///
    /// If a server publishes the private half, it is ignored.
    init?(jwk: JSONObject) {
        let number = { (name: String) in jwk.text(name).flatMap { Base64URL.decode($0.utf8) } }
        switch (jwk.text("kty"), jwk.text("crv")) {
        case ("RSA", _):
            guard let modulus = number("n"), let exponent = number("e"), modulus.count <= Self.modulusLimit,
                exponent.count <= Self.exponentLimit, let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent)
            else { return nil }
            self = .rsa(key)
        case ("EC", "P-256"?):
            guard let point = Self.point(number("x"), number("y"), of: 32),
                let key = try? P256.Signing.PublicKey(x963Representation: point)
            else { return nil }
            self = .p256(key)
        case ("EC", "P-384"?):
            guard let point = Self.point(number("x"), number("y"), of: 48),
                let key = try? P384.Signing.PublicKey(x963Representation: point)
            else { return nil }
            self = .p384(key)
        case ("EC", "P-521"?):
            guard let point = Self.point(number("x"), number("y"), of: 66),
                let key = try? P521.Signing.PublicKey(x963Representation: point)
            else { return nil }
            self = .p521(key)
        case ("OKP", "Ed25519"?):
            guard let point = number("x"), let key = try? Curve25519.Signing.PublicKey(rawRepresentation: point) else {
                return nil
            }
            self = .ed25519(key)
        default:
            return nil
        }
    }

    /// The uncompressed point (SEC 1 §2.3.3); nil unless both coordinates have the curve's full length (RFC 7518
    /// §6.2.1.2).
    private static func point(_ x: [UInt8]?, _ y: [UInt8]?, of length: Int) -> [UInt8]? {
        guard let x, let y, x.count == length, y.count == length else { return nil }
        return [4] + x + y
    }

    /// Whether keys of this kind make signatures of `algorithm`.
    func fits(_ algorithm: SigningAlgorithm) -> Bool {
        switch (self, algorithm.family) {
        case (.rsa, .rsaPKCS1), (.rsa, .rsaPSS), (.p256, .p256), (.p384, .p384), (.p521, .p521), (.ed25519, .ed25519):
            true
        case (.rsa, _), (.p256, _), (.p384, _), (.p521, _), (.ed25519, _):
            false
        }
    }

    /// Whether `signature` is a valid signature of `input` by this key; false if the key does not fit the algorithm.
    func isValid(_ signature: [UInt8], of input: [UInt8], by algorithm: SigningAlgorithm) -> Bool {
        guard fits(algorithm) else { return false }
        switch self {
        case .rsa(let key):
            return Self.isValid(signature, of: input, by: algorithm, key)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: SHA256.hash(data: input))
        case .p384(let key):
            guard let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: SHA384.hash(data: input))
        case .p521(let key):
            guard let signature = try? P521.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: SHA512.hash(data: input))
        case .ed25519(let key):
            return key.isValidSignature(signature, for: input)
        }
    }

    private static func isValid(
        _ signature: [UInt8],
        of input: [UInt8],
        by algorithm: SigningAlgorithm,
        _ key: _RSA.Signing.PublicKey
    ) -> Bool {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        let padding: _RSA.Signing.Padding = algorithm.family == .rsaPSS ? .PSS : .insecurePKCS1v1_5
        switch algorithm.hash {
        case .sha256: return key.isValidSignature(signature, for: SHA256.hash(data: input), padding: padding)
        case .sha384: return key.isValidSignature(signature, for: SHA384.hash(data: input), padding: padding)
        case .sha512: return key.isValidSignature(signature, for: SHA512.hash(data: input), padding: padding)
        }
    }
}

extension PublicKey {
    /// The members that define the key, in the order of their names, which RFC 7638 §3.2 hashes.
    var members: [(name: String, value: TokenValue)] {
        switch self {
        case .rsa(let key):
            // This never fails for a key that was read successfully.
            guard let numbers = try? key.getKeyPrimitives() else { return [] }
            let (e, n) = (Self.number(numbers.publicExponent), Self.number(numbers.modulus))
            return [("e", .text(e)), ("kty", .text("RSA")), ("n", .text(n))]
        case .p256(let key): return Self.point("P-256", Array(key.x963Representation))
        case .p384(let key): return Self.point("P-384", Array(key.x963Representation))
        case .p521(let key): return Self.point("P-521", Array(key.x963Representation))
        case .ed25519(let key):
            let x = Base64URL.encode(key.rawRepresentation)
            return [("crv", .text("Ed25519")), ("kty", .text("OKP")), ("x", .text(x))]
        }
    }

    /// The thumbprint by RFC 7638, with SHA-256.
    var thumbprint: String {
        Base64URL.encode(SHA256.hash(data: Array(TokenValue.object(members).written.utf8)))
    }

    /// The number without leading zeros (RFC 7518 §2, Base64urlUInt).
    private static func number(_ bytes: Data) -> String {
        Base64URL.encode(bytes.drop { $0 == 0 })
    }

    private static func point(_ curve: String, _ point: [UInt8]) -> [(name: String, value: TokenValue)] {
        // The byte 0x04, then both coordinates at the curve's full length.
        let length = (point.count - 1) / 2
        let (x, y) = (Base64URL.encode(point.dropFirst().prefix(length)), Base64URL.encode(point.suffix(length)))
        return [("crv", .text(curve)), ("kty", .text("EC")), ("x", .text(x)), ("y", .text(y))]
    }
}

/// The keys at a server's `jwks_uri` (RFC 7517 §5) that verify signatures of known kinds.
package struct JWKSet: Sendable {
    /// The longest text that is read, in bytes. Entra's set, with a certificate in each of its ten keys, has 20 KiB.
    package static let sizeLimit = 256 << 10
    /// The most keys that are accepted. Real sets have two to ten, and a token without `kid` costs one verification per
    /// key.
    package static let countLimit = 100

    let keys: [JSONWebKey]

    /// A set without keys, for tokens that are signed with the client secret.
    package static let empty = JWKSet(keys: [])

    private init(keys: [JSONWebKey]) {
        self.keys = keys
    }

    /// Reads a key set. Keys of unknown kinds, for other uses, or with damage are left out (RFC 7517 §5).
    ///
    /// - Throws: `keySetMalformed`, `keySetTooLarge`, or `duplicateMember`.
    package init(_ bytes: [UInt8]) throws(JOSEError) {
        guard bytes.count <= Self.sizeLimit else { throw .keySetTooLarge }
        let entries: [JSONObject]
        do throws(JOSEError) {
            guard let objects = try JSONObject(bytes).objects("keys") else { throw .keySetMalformed }
            entries = objects
        } catch .malformed {
            throw .keySetMalformed
        }
        guard entries.count <= Self.countLimit else { throw .keySetTooLarge }
        keys = entries.compactMap(JSONWebKey.init)
    }

    /// The keys that may have signed a token with this header. There are several only if the header names no key.
    func candidates(keyID: String?, algorithm: SigningAlgorithm) -> [JSONWebKey] {
        keys.filter { key in
            guard key.key.fits(algorithm), key.algorithm == nil || key.algorithm == algorithm else { return false }
            guard let keyID else { return true }
            return key.keyID?.isIdentical(to: keyID) ?? false
        }
    }
}

/// One published key (RFC 7517 §4).
struct JSONWebKey: Sendable {
    let key: PublicKey
    let keyID: String?
    /// `alg`: the only algorithm that the key may be used with; nil for all algorithms of its kind.
    let algorithm: SigningAlgorithm?
    /// Entra's addition: the issuer that the key signs for, with `{tenantid}` for all tenants.
    let issuer: String?

    /// Reads a key; nil if it does not verify signatures of a known kind.
    init?(_ jwk: JSONObject) {
        guard let key = PublicKey(jwk: jwk), jwk.text("use") ?? "sig" == "sig" else { return nil }
        if let uses = jwk.texts("key_ops"), !uses.contains("verify") { return nil }
        if let name = jwk.text("alg") {
            guard let algorithm = SigningAlgorithm(rawValue: name), key.fits(algorithm) else { return nil }
            self.algorithm = algorithm
        } else {
            algorithm = nil
        }
        self.key = key
        keyID = jwk.text("kid")
        issuer = jwk.text("issuer")
    }
}
