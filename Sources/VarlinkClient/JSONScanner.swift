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
