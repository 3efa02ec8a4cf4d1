import Crypto
import Foundation
package import RefreshCore

/// The 256-bit key that all secrets of a store are sealed with. It prints as `<redacted>`.
package struct StoreKey: Equatable, Sendable {
    /// The length in bytes: AES-256 takes 32.
    package static let length = 32

    private let secret: Secret

    /// Returns nil unless `secret` is 32 bytes long.
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

    /// Identifies the key without revealing anything about it: 16 hexadecimal digits.
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

    /// Calls `body` with the key's bytes. They must not outlive the call.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe secret.withBytes(body)
    }

    /// The extracted key (RFC 5869 §2.2, no salt) from which other keys are expanded, so that they reveal nothing about
    /// this one.
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

/// The forms of the key in files and in the Secret Service. They are read and written in memory that is overwritten
/// when freed.
extension StoreKey {
    /// Reads a key file: 32 raw bytes, 64 hexadecimal digits, or base64, with white space around them.
    init?(contents: Secret) {
        if contents.count == StoreKey.length {
            self.init(contents)
            return
        }
        let decoded = unsafe contents.withBytes { bytes in
            let isBlack = { (byte: UInt8) in byte != 0x20 && !(0x09...0x0d).contains(byte) }
            guard let first = unsafe bytes.firstIndex(where: isBlack), let last = unsafe bytes.lastIndex(where: isBlack)
            else { return nil as Secret? }
            let text = unsafe bytes[first...last]
            return switch unsafe (text.count, text.last) {
            case (2 * StoreKey.length, _): unsafe StoreKey.decode(text, bits: 4, Self.hexadecimalValue)
            case (44, UInt8(ascii: "=")): unsafe StoreKey.decode(text.dropLast(), bits: 6, Self.base64Value)
            default: nil
            }
        }
        guard let decoded else { return nil }
        self.init(decoded)
    }

    /// The key as 64 hexadecimal digits, for display.
    var digits: Secret { digits(endingWith: []) }

    /// The key as 64 hexadecimal digits and a newline, for the key file.
    var fileContents: Secret { digits(endingWith: [UInt8(ascii: "\n")]) }

    private func digits(endingWith end: [UInt8]) -> Secret {
        unsafe withBytes { key in
            unsafe Secret(capacity: 2 * key.count + end.count) { text in
                for index in key.indices {
                    unsafe text[2 * index] = Self.hexadecimalDigit(key[index] >> 4)
                    unsafe text[2 * index + 1] = Self.hexadecimalDigit(key[index] & 15)
                }
                unsafe UnsafeMutableRawBufferPointer(rebasing: text[(2 * key.count)...]).copyBytes(from: end)
                return text.count
            }
        }
    }

    /// Decodes digits of `bits` bits each, the highest first; nil if a digit is invalid, or if there are too many.
    private static func decode(
        _ digits: Slice<UnsafeRawBufferPointer>,
        bits: Int,
        _ value: (UInt8) -> UInt8?
    ) -> Secret? {
        let decoded = unsafe Secret(capacity: StoreKey.length) { bytes in
            var (pending, held, filled) = (UInt32(0), 0, 0)
            for index in unsafe digits.indices {
                guard let value = unsafe value(digits[index]), filled < bytes.count else { return 0 }
                pending = pending << UInt32(bits) | UInt32(value)
                held += bits
                guard held >= 8 else { continue }
                held -= 8
                unsafe bytes[filled] = UInt8(truncatingIfNeeded: pending >> UInt32(held))
                filled += 1
            }
            return filled
        }
        return decoded.isEmpty ? nil : decoded
    }

    static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The value of a base64 digit (RFC 4648 §4); nil if it is not one.
    private static func base64Value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
