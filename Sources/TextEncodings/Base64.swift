/// Base64 with padding (RFC 4648 §4), for `Authorization: Basic` (RFC 7617) and SASL.
///
/// It does not use Foundation: loading Foundation costs `authctl token` more time than all the rest of its work.
package enum Base64 {
    package static func encode(_ text: String) -> String {
        let encoded = Sextets.encode(Array(text.utf8), alphabet: Sextets.standard)
        let padding = repeatElement(UInt8(ascii: "="), count: (4 - encoded.count % 4) % 4)
        return String(decoding: encoded + padding, as: UTF8.self)
    }
}

/// Base64url without padding (RFC 7515 §2), decoded strictly: each sequence of bytes has exactly one text.
///
/// Foundation's decoder accepts padding and unused bits after the last byte, so one signature could have two texts.
package enum Base64URL {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Sextets.encode(Array(bytes), alphabet: Sextets.forURLs), as: UTF8.self)
    }

    /// Decodes `text`; nil for other characters, including padding, for an impossible length, and for bits set after
    /// the last byte.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        Sextets.decode(Array(text))
    }
}

/// Six bits per character.
private enum Sextets {
    static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    static let forURLs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Encodes without padding.
    static func encode(_ bytes: [UInt8], alphabet: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return text
    }

    /// Decodes the alphabet for URLs.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for character in text {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
