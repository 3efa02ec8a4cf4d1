import FoundationEssentials

/// Reads JSON (RFC 8259) into a `JSONValue`.
///
/// What a server may get wrong without being misunderstood is let pass, for an answer that is refused may take the only valid
/// refresh token with it: bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD. Foundation's decoder throws there,
/// and takes ten times as long: it makes a container for each guess at a value's type.
struct JSONReader {
    struct SyntaxError: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The one value that the text consists of.
    mutating func document() throws(SyntaxError) -> JSONValue {
        let value = try value(depth: 1)
        skipWhiteSpace()
        guard position == bytes.count else { throw SyntaxError() }
        return value
    }

    /// The byte at the position; NUL at the end, where no rule of JSON allows one.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipWhiteSpace() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { position += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws(SyntaxError) {
        guard current == byte else { throw SyntaxError() }
        position += 1
    }

    /// Whether `byte` stands here; if so, it is passed.
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    /// - Parameter depth: of the value, were it a container; 1 for the outermost.
    private mutating func value(depth: Int) throws(SyntaxError) -> JSONValue {
        skipWhiteSpace()
        switch current {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(SyntaxError) -> [String: JSONValue] {
        guard depth <= JSONValue.depthLimit else { throw SyntaxError() }
        position += 1
        var fields: [String: JSONValue] = [:]
        skipWhiteSpace()
        if skip(UInt8(ascii: "}")) { return fields }
        repeat {
            skipWhiteSpace()
            let name = try string()
            skipWhiteSpace()
            try expect(UInt8(ascii: ":"))
            let value = try value(depth: depth + 1)
            if fields[name] == nil { fields[name] = value }
            skipWhiteSpace()
        } while skip(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
        return fields
    }

    private mutating func array(depth: Int) throws(SyntaxError) -> [JSONValue] {
        guard depth <= JSONValue.depthLimit else { throw SyntaxError() }
        position += 1
        var elements: [JSONValue] = []
        skipWhiteSpace()
        if skip(UInt8(ascii: "]")) { return elements }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipWhiteSpace()
        } while skip(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
        return elements
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(SyntaxError) -> JSONValue {
        for byte in word.description.utf8 { try expect(byte) }
        return value
    }

    /// RFC 8259 §7: control characters must be escaped.
    private mutating func string() throws(SyntaxError) -> String {
        try expect(UInt8(ascii: "\""))
        let start = position
        while current >= 0x20, current != UInt8(ascii: "\""), current != UInt8(ascii: "\\") { position += 1 }
        let plain = bytes[start..<position]
        if skip(UInt8(ascii: "\"")) { return String(decoding: plain, as: UTF8.self) }
        var text = Array(plain)
        while !skip(UInt8(ascii: "\"")) {
            guard current >= 0x20 else { throw SyntaxError() }
            if skip(UInt8(ascii: "\\")) {
                text += try escape()
            } else {
                text.append(current)
                position += 1
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The UTF-8 of what stands after a backslash.
    private mutating func escape() throws(SyntaxError) -> [UInt8] {
        let letter = current
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try codePoint()
        default: throw SyntaxError()
        }
    }

    private mutating func codePoint() throws(SyntaxError) -> [UInt8] {
        var units = [try codeUnit()]
        let afterFirst = position
        if UTF16.isLeadSurrogate(units[0]), skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) {
            let second = try codeUnit()
            if UTF16.isTrailSurrogate(second) { units.append(second) } else { position = afterFirst }
        } else {
            position = afterFirst
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private mutating func codeUnit() throws(SyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(current)).hexDigitValue else { throw SyntaxError() }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    /// RFC 8259 §6: no leading zero, at least one digit in each part. What is beyond a double says nothing, and is null.
    private mutating func number() throws(SyntaxError) -> JSONValue {
        let start = position
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) { try digits() }
        if skip(UInt8(ascii: ".")) { try digits() }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            _ = skip(UInt8(ascii: "+")) || skip(UInt8(ascii: "-"))
            try digits()
        }
        guard let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)) else { throw SyntaxError() }
        return number.isFinite ? .number(number) : .null
    }

    private mutating func digits() throws(SyntaxError) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
        guard position > start else { throw SyntaxError() }
    }
}

/// Any JSON value, for answers whose fields come in more than one type.
enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    /// JSON numbers are IEEE 754 doubles for most servers; whole numbers are exact up to 2⁵³.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Deeper nesting is refused: token answers have two levels at most, metadata three.
    static let depthLimit = 32

    /// The object that `bytes` holds; nil if they are no JSON, another JSON value, or nested deeper than `depthLimit`.
    ///
    /// A name that comes twice keeps its first value.
    static func object(in bytes: [UInt8]) -> [String: JSONValue]? {
        var reader = JSONReader(bytes)
        guard case .object(let fields)? = try? reader.document() else { return nil }
        return fields
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var fields: [String: JSONValue]? {
        if case .object(let fields) = self { fields } else { nil }
    }

    /// What stands under a name in an object, or in a place of an array, the first being 0.
    func member(_ step: String) -> JSONValue? {
        switch self {
        case .object(let fields): fields[step]
        case .array(let elements): Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        case .null, .boolean, .number, .string: nil
        }
    }

    /// Text, a whole number or a truth value, as text.
    var word: String? {
        switch self {
        case .string(let text): text
        case .number(let number) where abs(number) < 1e15 && number == number.rounded(): String(Int64(number))
        case .boolean(let flag): String(flag)
        case .number, .null, .array, .object: nil
        }
    }

    /// A number of seconds, as number or as text: PayPal and others write numbers as strings, some with a fraction. Nil if it is
    /// not finite.
    var seconds: Double? {
        switch self {
        case .number(let number):
            return number.isFinite ? number : nil
        case .string(let text):
            let word = text.filter { !$0.isWhitespace }
            guard word.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }), let number = Double(word),
                number.isFinite
            else { return nil }
            return number
        case .null, .boolean, .array, .object:
            return nil
        }
    }

    /// The strings of an array; nil if this is no array or holds anything else.
    var texts: [String]? {
        guard case .array(let elements) = self else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }
}

extension JSONValue: Encodable {
    /// As a JSON document, names in alphabetical order.
    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only a number that is no number could fail, and JSON that was read holds none.
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let fields): try container.encode(fields)
        }
    }
}
