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
        var generator = SystemRandomNumberGenerator()
        return StoreKey(drawnBy: { UInt8.random(in: .min ... .max, using: &generator) })
    }

    private init(drawnBy byte: () -> UInt8) {
        secret = Secret((0..<StoreKey.length).map { _ in byte() })
    }

    /// Names the key without telling anything about it: 16 hexadecimal digits.
    package var identifier: String {
        let derived = HKDF<SHA256>.expand(
            pseudoRandomKey: extracted,
            info: Array("authrefresh store key identifier".utf8),
            outputByteCount: 8
        )
        return unsafe derived.withUnsafeBytes { unsafe hexadecimal($0) }
    }

    /// The key as 64 hexadecimal digits and a newline, for the key file; the caller overwrites it after use.
    var fileContents: [UInt8] {
        unsafe secret.withBytes { bytes in unsafe Array(hexadecimal(bytes).utf8) } + [UInt8(ascii: "\n")]
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

private func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let text = unsafe bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
}
