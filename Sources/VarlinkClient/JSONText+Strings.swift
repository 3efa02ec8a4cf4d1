/// Strings in and out of JSON (RFC 8259 §7).
extension JSONText {
    /// `text` as a JSON string, quotes included.
    package static func quote(_ text: String) -> String {
        // Nearly always; an array that grows has the Swift runtime make up its type (measured: 12 page faults).
        guard text.utf8.contains(where: needsEscape) else { return "\"" + text + "\"" }
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        quoted.reserveCapacity(text.utf8.count + 8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                quoted.append(UInt8(ascii: "\\"))
                quoted.append(byte)
            case 0..<0x20:
                let hexDigits = Array("0123456789abcdef".utf8)
                quoted.append(contentsOf: Array("\\u00".utf8))
                quoted.append(hexDigits[Int(byte >> 4)])
                quoted.append(hexDigits[Int(byte & 15)])
            default:
                quoted.append(byte)
            }
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// An object of members whose values are JSON already; those that are nil are left out.
    ///
    /// `JSONText.object([("account", JSONText.quote(name)), ("force", force ? "true" : nil)])`
    package static func object(_ members: [(name: String, value: String?)]) -> String {
        var object = JSONObjectText()
        for (name, value) in members { object.add(name, value) }
        return object.text
    }

    /// An array of strings.
    package static func array(_ texts: [String]) -> String {
        "[\(texts.map(quote).joined(separator: ","))]"
    }

    /// What `raw`, the bytes between two quotes, stands for; nil for half a surrogate pair and bytes that are not UTF-8.
    static func unquote(_ raw: ArraySlice<UInt8>) -> String? {
        guard raw.contains(UInt8(ascii: "\\")) else {
            // Nearly always; and the check for other text has the Swift runtime make up types (measured: 60 µs, once).
            guard raw.contains(where: { $0 >= 0x80 }) else { return String(decoding: raw, as: UTF8.self) }
            return String(validating: raw, as: UTF8.self)
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(raw.count)
        var rest = raw
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                decoded.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "b"): decoded.append(0x08)
            case UInt8(ascii: "f"): decoded.append(0x0C)
            case UInt8(ascii: "n"): decoded.append(0x0A)
            case UInt8(ascii: "r"): decoded.append(0x0D)
            case UInt8(ascii: "t"): decoded.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = takeScalar(from: &rest) else { return nil }
                decoded.append(contentsOf: Array(String(Character(scalar)).utf8))
            case let same?: decoded.append(same)
            case nil: return nil
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// The scalar of an escape whose `\u` is taken; a surrogate takes its other half with it.
    private static func takeScalar(from rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let unit = takeUnit(from: &rest) else { return nil }
        guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) }
        guard rest.starts(with: Array("\\u".utf8)) else { return nil }
        rest = rest.dropFirst(2)
        guard let low = takeUnit(from: &rest), (0xDC00..<0xE000).contains(low) else { return nil }
        return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + (low & 0x3FF))
    }

    private static func takeUnit(from rest: inout ArraySlice<UInt8>) -> UInt32? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        return UInt32(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16)
    }
}
