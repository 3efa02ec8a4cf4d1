import Crypto
import Foundation
package import RefreshCore

/// The 256-bit key that all secrets of a store are sealed with; prints as `<redacted>`.
package struct StoreKey: Equatable, Sendable {
    /// In bytes: AES-256 takes 32.
    package static let length = 32

    private let secret: Secret

    /// Nil unless `secret` is 32 bytes long.
    package init?(_ secret: Secret) {
        guard secret.count == StoreKey.length else { return nil }
        self.secret = secret
    }

    /// A new key from the kernel's random numbers.
    package static func random() -> StoreKey {
        StoreKey()
    }

    private init() {
        secret = unsafe Secret(capacity: StoreKey.length) { bytes in
            var generator = SystemRandomNumberGenerator()
            for index in bytes.indices { unsafe bytes[index] = generator.next() }
            return bytes.count
        }
    }

    /// Names the key without telling anything about it: 16 hexadecimal digits.
    package var identifier: String {
        let derived = HKDF<SHA256>.expand(
            pseudoRandomKey: extracted,
            info: Array("authrefresh store key identifier".utf8),
            outputByteCount: 8
        )
        let digits = unsafe derived.withUnsafeBytes { bytes in
            unsafe bytes.flatMap { [Self.hexadecimalDigit($0 >> 4), Self.hexadecimalDigit($0 & 15)] }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Gives `body` the key's bytes; they must not outlive the call.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe secret.withBytes(body)
    }

    /// What other keys are expanded from (RFC 5869 §2.2, no salt), so that they say nothing about this one.
    var extracted: SymmetricKey {
        let input = unsafe secret.withBytes { bytes in unsafe SymmetricKey(data: bytes) }
        return SymmetricKey(data: HKDF<SHA256>.extract(inputKeyMaterial: input, salt: Data?.none))
    }
}

extension StoreKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
