import Crypto
import CryptoExtras
import TextEncodings

/// How a token is signed (RFC 7518 §3.1, RFC 8037, RFC 9864); the raw values are the registered names. There is no `none`.
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
    /// RFC 8037; with the one curve that we know, Ed25519.
    case edDSA = "EdDSA"
    /// RFC 9864: the name that says the curve.
    case ed25519 = "Ed25519"

    /// What a signature of this algorithm needs for a key. The key decides: a public key can never be taken for a shared one.
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
        // Ed25519 hashes with SHA-512 inside; at_hash follows it, as all implementations agreed.
        case .hs512, .rs512, .ps512, .es512, .edDSA, .ed25519: .sha512
        }
    }

    /// Whether both sides hold the same key, so that the signature proves only that one of them made it.
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
