/// Scans a JSON text (RFC 8259) and finds where values begin and end. All our readers use this grammar.
///
/// Each step moves over what it names, and returns false or nil if something else stands there.
struct JSONScanner {
    private let bytes: ArraySlice<UInt8>
    private let nestingMax: Int
    private var valuesLeft: Int
    private let reading: JSONValue.Reading
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>, nestingMax: Int, valuesMax: Int, reading: JSONValue.Reading) {
        self.bytes = bytes
        self.nestingMax = nestingMax
        self.valuesLeft = valuesMax
        self.reading = reading
        position = bytes.startIndex
    }

    /// Scans inside a value that was checked, in whichever reading: what is valid in a strict one ends at the same bytes in
    /// a lenient one.
    init(checked value: ArraySlice<UInt8>) {
        self.init(value, nestingMax: .max, valuesMax: .max, reading: .lenient)
    }

    /// The single value that the text must contain. In a lenient reading, anything may follow it.
    mutating func document() -> ArraySlice<UInt8>? {
        guard let value = value() else { return nil }
        skipWhiteSpace()
        return reading == .lenient || position == bytes.endIndex ? value : nil
    }

    /// The next value; its bytes as in the text.
    mutating func value() -> ArraySlice<UInt8>? {
        skipWhiteSpace()
        let start = position
        return skipValue(depth: 0) ? bytes[start..<position] : nil
    }

    /// Enters a container; returns whether it has a first value.
    ///
    /// - Parameter opening: `{` or `[`. The closing bracket is its counterpart, two code points on.
    mutating func enter(_ opening: UInt8) -> Bool? {
        guard skip(opening) else { return nil }
        skipWhiteSpace()
        return !skip(opening + 2)
    }

    /// Moves to the next value of the container that began with `opening`; false at its end.
    mutating func advance(in opening: UInt8) -> Bool? {
        skipWhiteSpace()
        if skip(UInt8(ascii: ",")) { return true }
        return skip(opening + 2) ? false : nil
    }

    /// Builds what stands next, and all inside it, in one pass. `JSONValue.fold` describes the parameters.
    mutating func fold<Node>(
        scalar: (JSONValue) -> Node?,
        array: ([Node]) -> Node?,
        object: ([(name: JSONValue, node: Node)]) -> Node?
    ) -> Node? {
        skipWhiteSpace()
        let opening = current
        guard opening == UInt8(ascii: "{") || opening == UInt8(ascii: "[") else {
            return value().flatMap { scalar(JSONValue(checked: $0)) }
        }
        var members: [(name: JSONValue, node: Node)] = []
        var elements: [Node] = []
        guard var hasNext = enter(opening) else { return nil }
        while hasNext {
            let name = opening == UInt8(ascii: "{") ? memberName() : nil
            guard let node = fold(scalar: scalar, array: array, object: object), let more = advance(in: opening)
            else { return nil }
            if let name { members.append((JSONValue(checked: name), node)) } else { elements.append(node) }
            hasNext = more
        }
        return opening == UInt8(ascii: "{") ? object(members) : array(elements)
    }

    /// A member's name, with its quotes. This also skips the colon.
    mutating func memberName() -> ArraySlice<UInt8>? {
        skipWhiteSpace()
        let start = position
        guard takeOne(), skipString() else { return nil }
        let name = bytes[start..<position]
        skipWhiteSpace()
        return skip(UInt8(ascii: ":")) ? name : nil
    }

    // MARK: Steps

    /// The byte at the position; NUL at the end, where no rule of JSON allows one.
    private var current: UInt8 { position < bytes.endIndex ? bytes[position] : 0 }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { position += 1 }
    }

    /// Counts a value or a name; false if there may be no more.
    private mutating func takeOne() -> Bool {
        valuesLeft -= 1
        return valuesLeft >= 0
    }

    private mutating func skipValue(depth: Int) -> Bool {
        guard takeOne() else { return false }
        switch current {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return depth < nestingMax && skipContainer(current, depth: depth)
        case UInt8(ascii: "\""): return skipString()
        case UInt8(ascii: "t"): return skipWord("true")
        case UInt8(ascii: "f"): return skipWord("false")
        case UInt8(ascii: "n"): return skipWord("null")
        default: return reading == .lenient ? skipLooseNumber() : skipNumber()
        }
    }

    private mutating func skipContainer(_ opening: UInt8, depth: Int) -> Bool {
        guard var hasNext = enter(opening) else { return false }
        while hasNext {
            if opening == UInt8(ascii: "{"), memberName() == nil { return false }
            skipWhiteSpace()
            guard skipValue(depth: depth + 1), let more = advance(in: opening) else { return false }
            hasNext = more
        }
        return true
    }

    private mutating func skipWord(_ word: StaticString) -> Bool {
        for offset in 0..<word.utf8CodeUnitCount {
            guard skip(unsafe word.utf8Start[offset]) else { return false }
        }
        return true
    }

    /// RFC 8259 §7: no control characters except as escapes, and no unknown escapes. A lenient reading takes both.
    private mutating func skipString() -> Bool {
        guard skip(UInt8(ascii: "\"")) else { return false }
        while current != UInt8(ascii: "\"") {
            guard current >= 0x20 || reading == .lenient && position < bytes.endIndex else { return false }
            if skip(UInt8(ascii: "\\")), reading == .strict, !isAtEscape { return false }
            position += 1
        }
        position += 1
        return true
    }

    /// Whether what follows a backslash makes an escape.
    private var isAtEscape: Bool {
        guard current == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(current) }
        let digits = bytes[(position + 1)...].prefix(4)
        return digits.count == 4 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    /// RFC 8259 §6: no leading zero, at least one digit in each part.
    private mutating func skipNumber() -> Bool {
        _ = skip(UInt8(ascii: "-"))
        guard skip(UInt8(ascii: "0")) || skipDigits() else { return false }
        if skip(UInt8(ascii: ".")), !skipDigits() { return false }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            _ = skip(UInt8(ascii: "+")) || skip(UInt8(ascii: "-"))
            return skipDigits()
        }
        return true
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
        return position > start
    }

    /// A number as a careless program writes it: `+3600`, `.5`, `0003600`, `NaN`. Its value is not needed to find the end.
    private mutating func skipLooseNumber() -> Bool {
        let start = position
        while isInLooseNumber(current) { position += 1 }
        return position > start
    }

    private func isInLooseNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
