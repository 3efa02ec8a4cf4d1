/// A well-formed JSON value in its original bytes. Its parts are searched for when they are asked for.
///
/// It has no description, because replies contain tokens, which must not get into a message by string interpolation.
package struct JSONText: Equatable, Sendable {
    package let bytes: ArraySlice<UInt8>

    private init(checked bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Checks `bytes`, which must contain one value and white space.
    package init(_ bytes: ArraySlice<UInt8>) throws(JSONSyntaxError) {
        var scanner = JSONScanner(bytes)
        let value = try scanner.value()
        guard scanner.isAtEnd else { throw JSONSyntaxError(offset: value.endIndex - bytes.startIndex) }
        self.bytes = value
    }

    package init(_ text: String) throws(JSONSyntaxError) {
        try self.init(Array(text.utf8)[...])
    }

    /// The value as JSON, in its original form.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as JSON without white space between its parts.
    package var compactText: String {
        var (isInString, isEscaped) = (false, false)
        let kept = bytes.filter { byte in
            guard isInString else {
                isInString = byte == UInt8(ascii: "\"")
                return byte > 0x20
            }
            if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            return true
        }
        return String(decoding: kept, as: UTF8.self)
    }

    package var isNull: Bool { bytes.first == UInt8(ascii: "n") }
    package var isObject: Bool { bytes.first == UInt8(ascii: "{") }

    /// The Boolean; nil unless the value is `true` or `false`.
    package var bool: Bool? {
        switch bytes.first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// The integer; nil unless the value is a number without fraction and exponent, and in range.
    package var integer: Int64? { Int64(text) }

    /// The number; nil unless the value is a number.
    package var number: Double? {
        guard let first = bytes.first, first == UInt8(ascii: "-") || first <= UInt8(ascii: "9"),
            first != UInt8(ascii: "\"")
        else { return nil }
        return Double(text)
    }

    /// The text of a string; nil unless the value is a string of valid Unicode.
    package var string: String? {
        guard bytes.first == UInt8(ascii: "\"") else { return nil }
        return JSONEscapes.text(of: bytes.dropFirst().dropLast())
    }

    /// Whether the value is the string `text`.
    private func isString(_ text: String) -> Bool {
        // Escapes are rare in names. Without one, the bytes are the text itself.
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes.dropFirst().dropLast().elementsEqual(text.utf8) }
        return string == text
    }

    /// The values of an array, in order; nil for other values.
    package var elements: [JSONText]? {
        var elements: [JSONText] = []
        var scanner = JSONScanner(bytes)
        guard var hasNext = try? scanner.enter(UInt8(ascii: "[")) else { return nil }
        while hasNext, let value = try? scanner.value() {
            elements.append(JSONText(checked: value))
            hasNext = (try? scanner.advance(in: UInt8(ascii: "["))) ?? false
        }
        return elements
    }

    /// The members of an object in their order; nil for other values.
    package var members: [(name: String, value: JSONText)]? {
        guard isObject else { return nil }
        var members: [(name: String, value: JSONText)] = []
        eachMember { name, value in
            if let name = JSONText(checked: name).string { members.append((name, value)) }
            return true
        }
        return members
    }

    /// The member `name` of an object; nil if it is missing, or if the value is not an object. Of two equal names, the
    /// first counts.
    package subscript(name: String) -> JSONText? {
        var found: JSONText?
        eachMember { candidate, value in
            if JSONText(checked: candidate).isString(name) { found = value }
            return found == nil
        }
        return found
    }

    /// Calls `body` with each name (including quotes) and value, until it returns false.
    private func eachMember(_ body: (ArraySlice<UInt8>, JSONText) -> Bool) {
        var scanner = JSONScanner(bytes)
        guard var hasNext = try? scanner.enter(UInt8(ascii: "{")) else { return }
        while hasNext, let name = try? scanner.memberName(), let value = try? scanner.value() {
            guard body(name, JSONText(checked: value)) else { return }
            hasNext = (try? scanner.advance(in: UInt8(ascii: "{"))) ?? false
        }
    }
}

/// Converts strings to and from JSON (RFC 8259 §7).
extension JSONText {
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
