/// `application/x-www-form-urlencoded` as RFC 6749 appendix B wants it: UTF-8, space as `+`.
enum FormEncoding {
    /// Appends `text`, encoded.
    static func append(_ text: String, to bytes: inout [UInt8]) {
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

    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `name=value` pairs joined by `&`, in the order given.
    static func body(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            append(field.name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(field.value, to: &bytes)
        }
        return bytes
    }

    /// The fields of a form-encoded answer; nil if `text` is no form, or has more than `limit` fields.
    ///
    /// A name that comes twice keeps its first value, as in JSON answers.
    static func parse(_ text: some StringProtocol, limit: Int = 64) -> [String: String]? {
        let pairs = text.split(separator: "&", maxSplits: limit)
        guard !pairs.isEmpty, pairs.count <= limit else { return nil }
        var fields: [String: String] = [:]
        for pair in pairs {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex,
                let name = decode(pair[..<equals]), let value = decode(pair[pair.index(after: equals)...])
            else { return nil }
            if fields[name] == nil { fields[name] = value }
        }
        return fields
    }

    /// Nil if a percent sign is not followed by two hexadecimal digits, or if white space or a bracket shows that this
    /// is no form.
    private static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal)
                else { return nil }
                bytes.append(high << 4 | low)
            case 0...0x20, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "{"), UInt8(ascii: "\""):
                return nil
            default:
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
