import Crypto
import CryptoExtras
import FoundationEssentials
package import RefreshCore
internal import TextEncodings

/// A key, and how a client signs its tokens with it.
package struct TokenSigner: Sendable {
    private enum Means: Sendable {
        case secret(Secret)
        case key(PrivateKey, keyID: String?)
    }

    private let means: Means
    let algorithm: SigningAlgorithm

    /// Signs with the client secret and HS256, which servers expect if nothing else is registered (OpenID Connect Core
    /// §9).
    package init(secret: Secret) {
        means = .secret(secret)
        algorithm = .hs256
    }

    /// Signs with a private key.
    ///
    /// - Parameters:
    ///   - keyID: the server's name for the key; nil uses the key's own ID, if it has one.
    ///   - offered: the algorithms that the server accepts; nil if it does not say.
    /// - Throws: `keyDoesNotFit` if the server accepts none of the key's algorithms.
    package init(key: PrivateKey, keyID: String?, offered: [String]?) throws(JOSEError) {
        means = .key(key, keyID: keyID ?? key.keyID)
        algorithm = try key.signingAlgorithm(offered: offered)
    }

    /// The signed token in compact form, for a request body.
    ///
    /// - Parameter header: members besides `alg`, `kid` and the certificate's thumbprints.
    /// - Throws: `signingFailed`.
    func sign(
        header: [(name: String, value: TokenValue)] = [],
        _ claims: [(name: String, value: TokenValue)]
    ) throws(JOSEError) -> Secret {
        let header = TokenValue.object([("alg", .text(algorithm.rawValue))] + identification + header).written
        let payload = TokenValue.object(claims).written
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        let signature: [UInt8]
        switch means {
        case .secret(let secret): signature = SharedKey(secret).signature(of: Array(input.utf8), by: algorithm.hash)
        case .key(let key, _): signature = try key.signature(of: Array(input.utf8), by: algorithm)
        }
        return Secret(input + "." + Base64URL.encode(signature))
    }

    /// How the server finds the key: by its ID, or by its certificate (RFC 7515 §4.1.7, §4.1.8; Entra uses only the
    /// certificate).
    private var identification: [(name: String, value: TokenValue)] {
        guard case .key(let key, let keyID) = means else { return [] }
        let name = keyID.map { [(name: "kid", value: TokenValue.text($0))] } ?? []
        guard let certificate = key.certificate else { return name }
        return name + [
            ("x5t", .text(Base64URL.encode(Insecure.SHA1.hash(data: certificate)))),
            ("x5t#S256", .text(Base64URL.encode(SHA256.hash(data: certificate)))),
        ]
    }
}

/// A client secret used as a key (OpenID Connect Core §10.1): its bytes as they are.
///
/// RFC 7518 §3.2 requires as many bytes as the hash has. Some servers issue shorter secrets, and we have to use what
/// the server chose.
struct SharedKey: Sendable {
    private let key: SymmetricKey

    init(_ secret: Secret) {
        key = unsafe secret.withBytes { bytes in unsafe SymmetricKey(data: bytes) }
    }

    func signature(of input: [UInt8], by hash: SigningAlgorithm.Hash) -> [UInt8] {
        switch hash {
        case .sha256: Array(HMAC<SHA256>.authenticationCode(for: input, using: key))
        case .sha384: Array(HMAC<SHA384>.authenticationCode(for: input, using: key))
        case .sha512: Array(HMAC<SHA512>.authenticationCode(for: input, using: key))
        }
    }

    /// Compares in constant time.
    func isValid(_ signature: [UInt8], of input: [UInt8], by hash: SigningAlgorithm.Hash) -> Bool {
        switch hash {
        case .sha256: HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: input, using: key)
        case .sha384: HMAC<SHA384>.isValidAuthenticationCode(signature, authenticating: input, using: key)
        case .sha512: HMAC<SHA512>.isValidAuthenticationCode(signature, authenticating: input, using: key)
        }
    }
}

/// A signature algorithm (RFC 7518 §3.1, RFC 8037, RFC 9864). The raw values are the registered names. There is no
/// `none`.
package enum SigningAlgorithm: String, Hashable, Sendable, CaseIterable {
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// RFC 8037, here always with Ed25519.
    case edDSA = "EdDSA"
    /// RFC 9864: the name that includes the curve.
    case ed25519 = "Ed25519"

    /// The kind of key that an algorithm needs. The key decides, so a public key can never be used as a shared one.
    enum Family: Hashable {
        case shared
        case rsaPKCS1
        case rsaPSS
        case p256
        case p384
        case p521
        case ed25519
    }

    enum Hash {
        case sha256
        case sha384
        case sha512
    }

    var family: Family {
        switch self {
        case .hs256, .hs384, .hs512: .shared
        case .rs256, .rs384, .rs512: .rsaPKCS1
        case .ps256, .ps384, .ps512: .rsaPSS
        case .es256: .p256
        case .es384: .p384
        case .es512: .p521
        case .edDSA, .ed25519: .ed25519
        }
    }

    var hash: Hash {
        switch self {
        case .hs256, .rs256, .ps256, .es256: .sha256
        case .hs384, .rs384, .ps384, .es384: .sha384
        // Ed25519 uses SHA-512 internally, and all implementations use that for at_hash.
        case .hs512, .rs512, .ps512, .es512, .edDSA, .ed25519: .sha512
        }
    }

    /// Whether both sides have the same key. The signature then proves only that one of them made it.
    package var isSymmetric: Bool { family == .shared }

    /// `at_hash` and `c_hash` (OpenID Connect Core §3.1.3.6): the left half of the hash of `value`, in base64url.
    func halfHash(of value: some Collection<UInt8>) -> String {
        let digest = hash.digest(of: Array(value))
        return Base64URL.encode(digest.prefix(digest.count / 2))
    }
}

extension SigningAlgorithm.Hash {
    func digest(of bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}
