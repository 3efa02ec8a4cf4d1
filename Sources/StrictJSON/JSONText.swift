/// A JSON value as it came, known to be well-formed; its parts are looked for when asked for.
///
/// It does not describe itself: replies carry tokens, and must not end up in a message by interpolation.
package struct JSONText: Equatable, Sendable {
    package let bytes: ArraySlice<UInt8>

    private init(checked bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Checks `bytes`, which must hold one value and white space.
    package init(_ bytes: ArraySlice<UInt8>) throws(JSONSyntaxError) {
        var scanner = JSONScanner(bytes)
        let value = try scanner.value()
        guard scanner.isAtEnd else { throw JSONSyntaxError(offset: value.endIndex - bytes.startIndex) }
        self.bytes = value
    }

    package init(_ text: String) throws(JSONSyntaxError) {
        try self.init(Array(text.utf8)[...])
    }

    /// The value in JSON, as it came.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The same value without white space between its parts.
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

    /// nil unless the value is `true` or `false`.
    package var bool: Bool? {
        switch bytes.first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// nil unless the value is a number without fraction and exponent, and in range.
    package var integer: Int64? { Int64(text) }

    /// nil unless the value is a number.
    package var number: Double? {
        guard let first = bytes.first, first == UInt8(ascii: "-") || first <= UInt8(ascii: "9"),
            first != UInt8(ascii: "\"")
        else { return nil }
        return Double(text)
    }

    /// nil unless the value is a string whose escapes and bytes make valid Unicode.
    package var string: String? {
        guard bytes.first == UInt8(ascii: "\"") else { return nil }
        return JSONEscapes.text(of: bytes.dropFirst().dropLast())
    }

    /// Whether the value is the string `text`.
    private func isString(_ text: String) -> Bool {
        // An escape is rare in a name; without one, the bytes are the text's own.
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes.dropFirst().dropLast().elementsEqual(text.utf8) }
        return string == text
    }

    /// The values of an array, in order; nil for anything else.
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

    /// The members of an object in the order they came; nil for anything else.
    package var members: [(name: String, value: JSONText)]? {
        guard isObject else { return nil }
        var members: [(name: String, value: JSONText)] = []
        eachMember { name, value in
            if let name = JSONText(checked: name).string { members.append((name, value)) }
            return true
        }
        return members
    }

    /// The member `name` of an object; nil if there is none, or the value is no object. Of two, the first.
    package subscript(name: String) -> JSONText? {
        var found: JSONText?
        eachMember { candidate, value in
            if JSONText(checked: candidate).isString(name) { found = value }
            return found == nil
        }
        return found
    }

    /// Calls `body` with each name, quotes included, and value, until it returns false.
    private func eachMember(_ body: (ArraySlice<UInt8>, JSONText) -> Bool) {
        var scanner = JSONScanner(bytes)
        guard var hasNext = try? scanner.enter(UInt8(ascii: "{")) else { return }
        while hasNext, let name = try? scanner.memberName(), let value = try? scanner.value() {
            guard body(name, JSONText(checked: value)) else { return }
            hasNext = (try? scanner.advance(in: UInt8(ascii: "{"))) ?? false
        }
    }
}

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
}

/// An object in JSON, written member by member.
///
/// For the hot path: an array of tuples would have the Swift runtime make up its type first, which takes as long as the question
/// to the daemon (measured: 70 µs).
package struct JSONObjectText {
    private var members = ""

    package init() {}

    package var text: String { "{" + members + "}" }

    /// Adds a member whose value is JSON already; nil is left out.
    package mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        if !members.isEmpty { members += "," }
        members += JSONText.quote(name)
        members += ":"
        members += value
    }
}
