import Crypto
import FoundationEssentials
import RefreshCore

/// A client secret used as a key (OpenID Connect Core §10.1): its bytes as they are.
///
/// RFC 7518 §3.2 wants as many bytes as the hash has. Servers hand out shorter secrets, and the server is who chooses.
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
