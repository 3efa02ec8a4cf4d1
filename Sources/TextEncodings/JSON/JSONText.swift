/// Writes JSON (RFC 8259).
package enum JSONText {
    /// `text` as a JSON string, including quotes.
    package static func quote(_ text: String) -> String {
        // The usual case. For an array that grows, the Swift runtime has to build its type (measured: 12 page faults).
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

    /// An object whose member values are already JSON. Members whose value is nil are left out.
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
}

/// A JSON object that is written member by member.
///
/// It is for the hot path. For an array of tuples, the Swift runtime would first build its type, which takes as long as
/// the call to the daemon (measured: 70 µs).
package struct JSONObjectText {
    private var members = ""

    package init() {}

    package var text: String { "{" + members + "}" }

    /// Adds a member whose value is already JSON; nil adds nothing.
    package mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        if !members.isEmpty { members += "," }
        members += JSONText.quote(name)
        members += ":"
        members += value
    }
}
