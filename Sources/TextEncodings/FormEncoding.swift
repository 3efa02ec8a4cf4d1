/// `application/x-www-form-urlencoded` as RFC 6749 appendix B specifies it: UTF-8, space as `+`.
package enum FormEncoding {
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `name=value` pairs joined by `&`, in the given order.
    package static func body(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            append(field.name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(field.value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                bytes.append(byte)
            case UInt8(ascii: " "):
                bytes.append(UInt8(ascii: "+"))
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// One name or value; nil for a broken escape, or for bytes that are not UTF-8.
    package static func decode(_ encoded: some Sequence<UInt8>) -> String? {
        bytes(of: Array(encoded)).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The fields of a form-encoded answer; nil if `text` is not a form, or has more than `limit` fields.
    ///
    /// If a name occurs twice, the last value counts, as in JSON answers. Bytes that are not UTF-8 become U+FFFD, so
    /// that they do not spoil the rest of the answer.
    package static func parse(_ text: some StringProtocol, limit: Int = 64) -> [String: String]? {
        let pairs = text.split(separator: "&", maxSplits: limit)
        guard !pairs.isEmpty, pairs.count <= limit else { return nil }
        var fields: [String: String] = [:]
        for pair in pairs {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex,
                let name = field(pair[..<equals]), let value = field(pair[pair.index(after: equals)...])
            else { return nil }
            fields[name] = value
        }
        return fields
    }

    /// Decodes a field; nil for a broken escape, or if white space or a bracket shows that this is not a form.
    private static func field(_ text: some StringProtocol) -> String? {
        let encoded = Array(text.utf8)
        let isForm = encoded.allSatisfy { $0 > 0x20 && !#"<>{""#.utf8.contains($0) }
        return isForm ? bytes(of: encoded).map { String(decoding: $0, as: UTF8.self) } : nil
    }

    private static func bytes(of encoded: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = encoded[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal)
                else { return nil }
                bytes.append(high << 4 | low)
            default:
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
