/// A JSON value as it came, known to be well-formed; its parts are looked for when asked for.
///
/// It does not describe itself: replies carry tokens, and must not end up in a message by interpolation.
package struct JSONText: Equatable, Sendable {
    package let bytes: ArraySlice<UInt8>

    private init(checked bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Checks `bytes`, which must hold one value and white space.
    package init(_ bytes: ArraySlice<UInt8>) throws(JSONScanner.SyntaxError) {
        var scanner = JSONScanner(bytes)
        let value = try scanner.value()
        guard scanner.isAtEnd else { throw JSONScanner.SyntaxError(offset: value.endIndex - bytes.startIndex) }
        self.bytes = value
    }

    package init(_ text: String) throws(JSONScanner.SyntaxError) {
        try self.init(Array(text.utf8)[...])
    }

    /// The value in JSON, as it came.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

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
        return Self.unquote(bytes.dropFirst().dropLast())
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

/// Walks through a JSON text (RFC 8259) and finds where values begin and end, without building anything.
package struct JSONScanner {
    /// The text is no JSON, or nests deeper than `nestingMax`.
    package struct SyntaxError: Error, Equatable {
        /// Offset of the first byte that does not fit.
        package let offset: Int
    }

    /// Deep enough for any reply we know of, shallow enough for any stack.
    package static let nestingMax = 64

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Whether only white space is left.
    package var isAtEnd: Bool {
        mutating get {
            skipWhiteSpace()
            return position == bytes.endIndex
        }
    }

    /// The next value, checked, as it stands in the text.
    package mutating func value() throws(SyntaxError) -> ArraySlice<UInt8> {
        skipWhiteSpace()
        let start = position
        try skipValue(depth: 0)
        return bytes[start..<position]
    }

    /// Enters a container and tells whether it has a first value.
    ///
    /// - Parameter opening: `{` or `[`; the end is its counterpart, two code points on.
    package mutating func enter(_ opening: UInt8) throws(SyntaxError) -> Bool {
        skipWhiteSpace()
        try expect(opening)
        skipWhiteSpace()
        guard current == opening + 2 else { return true }
        position += 1
        return false
    }

    /// Goes on to the next value of the container that began with `opening`; false at its end.
    package mutating func advance(in opening: UInt8) throws(SyntaxError) -> Bool {
        skipWhiteSpace()
        if current == UInt8(ascii: ",") {
            position += 1
            return true
        }
        try expect(opening + 2)
        return false
    }

    /// A member's name, quotes included, and its colon.
    package mutating func memberName() throws(SyntaxError) -> ArraySlice<UInt8> {
        skipWhiteSpace()
        let start = position
        try skipString()
        let name = bytes[start..<position]
        skipWhiteSpace()
        try expect(UInt8(ascii: ":"))
        return name
    }

    // MARK: Steps

    private var unexpected: SyntaxError { SyntaxError(offset: position - bytes.startIndex) }

    /// The byte at the position; NUL at the end, where no rule of JSON allows one.
    private var current: UInt8 { position < bytes.endIndex ? bytes[position] : 0 }

    private mutating func expect(_ byte: UInt8) throws(SyntaxError) {
        guard current == byte else { throw unexpected }
        position += 1
    }

    private mutating func skipWhiteSpace() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { position += 1 }
    }

    private mutating func skipValue(depth: Int) throws(SyntaxError) {
        switch current {
        case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer(current, depth: depth)
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try skipWord("true")
        case UInt8(ascii: "f"): try skipWord("false")
        case UInt8(ascii: "n"): try skipWord("null")
        default: try skipNumber()
        }
    }

    private mutating func skipContainer(_ opening: UInt8, depth: Int) throws(SyntaxError) {
        guard depth < Self.nestingMax else { throw unexpected }
        var hasNext = try enter(opening)
        while hasNext {
            if opening == UInt8(ascii: "{") {
                _ = try memberName()
            }
            skipWhiteSpace()
            try skipValue(depth: depth + 1)
            hasNext = try advance(in: opening)
        }
    }

    private mutating func skipWord(_ word: String) throws(SyntaxError) {
        for byte in word.utf8 { try expect(byte) }
    }

    /// RFC 8259 §7: no bare control character; every escape known.
    private mutating func skipString() throws(SyntaxError) {
        try expect(UInt8(ascii: "\""))
        while current != UInt8(ascii: "\"") {
            guard current >= 0x20 else { throw unexpected }
            if current == UInt8(ascii: "\\") {
                position += 1
                try checkEscape()
            }
            position += 1
        }
        position += 1
    }

    private mutating func checkEscape() throws(SyntaxError) {
        switch current {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                position += 1
                guard Character(Unicode.Scalar(current)).isHexDigit else { throw unexpected }
            }
        default:
            throw unexpected
        }
    }

    /// RFC 8259 §6: no leading zero, at least one digit in each part.
    private mutating func skipNumber() throws(SyntaxError) {
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") { position += 1 } else { try skipDigits() }
        if current == UInt8(ascii: ".") {
            position += 1
            try skipDigits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(SyntaxError) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
        guard position > start else { throw unexpected }
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
