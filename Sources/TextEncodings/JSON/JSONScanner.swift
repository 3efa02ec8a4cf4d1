/// The error for a text that is not JSON, is nested too deeply or has too many values.
package struct JSONSyntaxError: Error, Equatable {
    /// The offset of the first invalid byte.
    package let offset: Int
}

/// Scans a JSON text (RFC 8259) and finds where values begin and end. All our readers use this grammar.
///
/// `JSONText` looks for a part of a reply when it is asked for, and builds nothing. `JSONDocument` builds an index of
/// all values during the scan.
struct JSONScanner {
    /// Deep enough for every reply we know of, and shallow enough for every stack.
    static let nestingMax = 64

    private let bytes: ArraySlice<UInt8>
    private let nestingMax: Int
    /// The most values in the index; nil if no index is built.
    private let valuesMax: Int?
    private let reading: JSONDocument.Reading
    private var position: Int
    private(set) var nodes: [JSONDocument.Node] = []

    /// Scans without an index. Unknown escapes are errors.
    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        nestingMax = Self.nestingMax
        valuesMax = nil
        reading = .strict
        position = bytes.startIndex
    }

    /// Scans and builds an index. Escapes are checked only when a string is read, because others' documents may contain
    /// unknown ones.
    init(_ bytes: [UInt8], nestingMax: Int, valuesMax: Int, reading: JSONDocument.Reading) {
        self.bytes = bytes[...]
        self.nestingMax = nestingMax
        self.valuesMax = valuesMax
        self.reading = reading
        position = 0
        // A small call has about one value per eight bytes, so one allocation is enough.
        nodes.reserveCapacity(min(bytes.count / 8 + 2, valuesMax))
    }

    /// Whether only white space is left.
    var isAtEnd: Bool {
        mutating get {
            skipWhiteSpace()
            return position == bytes.endIndex
        }
    }

    /// The next value, checked; its bytes as in the text.
    mutating func value() throws(JSONSyntaxError) -> ArraySlice<UInt8> {
        skipWhiteSpace()
        let start = position
        try skipValue(depth: 0)
        return bytes[start..<position]
    }

    /// Scans the single value that the text must contain. In a lenient reading, anything may follow it.
    mutating func document() throws(JSONSyntaxError) {
        _ = try value()
        guard reading == .lenient || isAtEnd else { throw unexpected }
    }

    /// Enters a container; returns whether it has a first value.
    ///
    /// - Parameter opening: `{` or `[`. The closing bracket is its counterpart, two code points on.
    mutating func enter(_ opening: UInt8) throws(JSONSyntaxError) -> Bool {
        skipWhiteSpace()
        try expect(opening)
        skipWhiteSpace()
        guard current == opening + 2 else { return true }
        position += 1
        return false
    }

    /// Moves to the next value of the container that began with `opening`; false at its end.
    mutating func advance(in opening: UInt8) throws(JSONSyntaxError) -> Bool {
        skipWhiteSpace()
        if current == UInt8(ascii: ",") {
            position += 1
            return true
        }
        try expect(opening + 2)
        return false
    }

    /// A member's name, including quotes, and its colon.
    mutating func memberName() throws(JSONSyntaxError) -> ArraySlice<UInt8> {
        skipWhiteSpace()
        let start = position
        try skipString()
        let name = bytes[start..<position]
        skipWhiteSpace()
        try expect(UInt8(ascii: ":"))
        return name
    }

    // MARK: Steps

    private var unexpected: JSONSyntaxError {
        JSONSyntaxError(offset: min(position, bytes.endIndex) - bytes.startIndex)
    }

    /// The byte at the position; NUL at the end, where no rule of JSON allows one.
    private var current: UInt8 { position < bytes.endIndex ? bytes[position] : 0 }

    private mutating func expect(_ byte: UInt8) throws(JSONSyntaxError) {
        guard current == byte else { throw unexpected }
        position += 1
    }

    private mutating func skipWhiteSpace() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { position += 1 }
    }

    private mutating func skipValue(depth: Int) throws(JSONSyntaxError) {
        switch current {
        case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer(current, depth: depth)
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"): try skipWord("true", .true)
        case UInt8(ascii: "f"): try skipWord("false", .false)
        case UInt8(ascii: "n"): try skipWord("null", .null)
        default: try reading == .lenient ? skipLooseNumber() : skipNumber()
        }
    }

    private mutating func skipContainer(_ opening: UInt8, depth: Int) throws(JSONSyntaxError) {
        guard depth < nestingMax else { throw unexpected }
        let isObject = opening == UInt8(ascii: "{")
        let node = try open(isObject ? .object : .array)
        var hasNext = try enter(opening)
        while hasNext {
            if isObject { _ = try memberName() }
            skipWhiteSpace()
            try skipValue(depth: depth + 1)
            hasNext = try advance(in: opening)
        }
        close(node)
    }

    private mutating func skipWord(_ word: StaticString, _ kind: JSONDocument.Kind) throws(JSONSyntaxError) {
        let node = try open(kind)
        for offset in 0..<word.utf8CodeUnitCount { try expect(unsafe word.utf8Start[offset]) }
        close(node)
    }

    /// RFC 8259 §7: no control characters except as escapes. A lenient reading takes them.
    private mutating func skipString() throws(JSONSyntaxError) {
        try expect(UInt8(ascii: "\""))
        let start = position
        var hasEscape = false
        while current != UInt8(ascii: "\"") {
            guard current >= 0x20 || reading == .lenient && position < bytes.endIndex else { throw unexpected }
            if current == UInt8(ascii: "\\") {
                hasEscape = true
                position += 1
                if valuesMax == nil { try checkEscape() }
            }
            position += 1
        }
        let node = try open(hasEscape ? .escapedString : .string, at: start)
        close(node)
        position += 1
    }

    private mutating func checkEscape() throws(JSONSyntaxError) {
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
    private mutating func skipNumber() throws(JSONSyntaxError) {
        let node = try open(.number)
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
        close(node)
    }

    /// A number as a careless program writes it: `+3600`, `.5`, `0003600`, `NaN`. Its value is not needed to find the end.
    private mutating func skipLooseNumber() throws(JSONSyntaxError) {
        let node = try open(.number)
        let start = position
        while isInLooseNumber(current) { position += 1 }
        guard position > start else { throw unexpected }
        close(node)
    }

    private func isInLooseNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private mutating func skipDigits() throws(JSONSyntaxError) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
        guard position > start else { throw unexpected }
    }

    // MARK: Index

    /// Adds a value to the index.
    ///
    /// - Parameter start: where the value begins; nil for the current position.
    /// - Returns: the value's place in the index, if one is built.
    private mutating func open(_ kind: JSONDocument.Kind, at start: Int? = nil) throws(JSONSyntaxError) -> Int {
        guard let valuesMax else { return 0 }
        guard nodes.count < valuesMax else { throw unexpected }
        nodes.append(JSONDocument.Node(kind: kind, start: Int32(start ?? position), end: 0, next: 0))
        return nodes.count - 1
    }

    private mutating func close(_ node: Int) {
        guard valuesMax != nil else { return }
        nodes[node].end = Int32(position)
        nodes[node].next = Int32(nodes.count)
    }
}
