/// Checks a JSON text against RFC 8259 and builds the index of its values.
struct JSONParser {
    private let bytes: [UInt8]
    private let nestingMax: Int
    private let valuesMax: Int
    private var position = 0
    private(set) var nodes: [JSONDocument.Node] = []

    init(_ bytes: [UInt8], nestingMax: Int, valuesMax: Int) {
        self.bytes = bytes
        self.nestingMax = nestingMax
        self.valuesMax = valuesMax
        // A small call has about a value in every eight bytes; one allocation serves it.
        nodes.reserveCapacity(min(bytes.count / 8 + 2, valuesMax))
    }

    mutating func parseDocument() throws(JSONSyntaxError) {
        try parseValue(depth: 0)
        skipWhiteSpace()
        guard position == bytes.count else { throw unexpected }
    }

    private var unexpected: JSONSyntaxError { JSONSyntaxError(offset: position) }

    /// The byte at the position; NUL at the end of the text, where no rule of JSON allows one.
    private var current: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipWhiteSpace() {
        while current == UInt8(ascii: " ") || current == UInt8(ascii: "\n") || current == UInt8(ascii: "\t")
            || current == UInt8(ascii: "\r")
        {
            position += 1
        }
    }

    private mutating func parseValue(depth: Int) throws(JSONSyntaxError) {
        skipWhiteSpace()
        switch current {
        case UInt8(ascii: "{"): try parseObject(depth: depth)
        case UInt8(ascii: "["): try parseArray(depth: depth)
        case UInt8(ascii: "\""): try parseString()
        case UInt8(ascii: "t"): try parseWord("true", .true)
        case UInt8(ascii: "f"): try parseWord("false", .false)
        case UInt8(ascii: "n"): try parseWord("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try parseNumber()
        default: throw unexpected
        }
    }

    private mutating func open(_ kind: JSONDocument.Kind) throws(JSONSyntaxError) -> Int {
        guard nodes.count < valuesMax else { throw unexpected }
        nodes.append(JSONDocument.Node(kind: kind, start: Int32(position), end: 0, next: 0))
        return nodes.count - 1
    }

    private mutating func close(_ node: Int) {
        nodes[node].end = Int32(position)
        nodes[node].next = Int32(nodes.count)
    }

    private mutating func parseObject(depth: Int) throws(JSONSyntaxError) {
        guard depth < nestingMax else { throw unexpected }
        let node = try open(.object)
        position += 1
        skipWhiteSpace()
        if current != UInt8(ascii: "}") {
            while true {
                skipWhiteSpace()
                guard current == UInt8(ascii: "\"") else { throw unexpected }
                try parseString()
                skipWhiteSpace()
                try expect(UInt8(ascii: ":"))
                try parseValue(depth: depth + 1)
                skipWhiteSpace()
                guard current == UInt8(ascii: ",") else { break }
                position += 1
            }
        }
        try expect(UInt8(ascii: "}"))
        close(node)
    }

    private mutating func parseArray(depth: Int) throws(JSONSyntaxError) {
        guard depth < nestingMax else { throw unexpected }
        let node = try open(.array)
        position += 1
        skipWhiteSpace()
        if current != UInt8(ascii: "]") {
            while true {
                try parseValue(depth: depth + 1)
                skipWhiteSpace()
                guard current == UInt8(ascii: ",") else { break }
                position += 1
            }
        }
        try expect(UInt8(ascii: "]"))
        close(node)
    }

    private mutating func expect(_ byte: UInt8) throws(JSONSyntaxError) {
        guard current == byte else { throw unexpected }
        position += 1
    }

    private mutating func parseWord(_ word: StaticString, _ kind: JSONDocument.Kind) throws(JSONSyntaxError) {
        let node = try open(kind)
        for byte in String(describing: word).utf8 {
            try expect(byte)
        }
        close(node)
    }

    private mutating func parseString() throws(JSONSyntaxError) {
        position += 1
        let start = position
        var hasEscape = false
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            // RFC 8259 §7: control characters must be escaped.
            guard bytes[position] >= 0x20 else { throw unexpected }
            if bytes[position] == UInt8(ascii: "\\") {
                hasEscape = true
                position += 1
            }
            position += 1
        }
        guard position < bytes.count else { throw JSONSyntaxError(offset: bytes.count) }
        guard nodes.count < valuesMax else { throw unexpected }
        let kind: JSONDocument.Kind = hasEscape ? .escapedString : .string
        nodes.append(.init(kind: kind, start: Int32(start), end: Int32(position), next: Int32(nodes.count + 1)))
        position += 1
    }

    /// RFC 8259 §6: no leading zero, at least one digit in each part.
    private mutating func parseNumber() throws(JSONSyntaxError) {
        let node = try open(.number)
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") { position += 1 } else { try parseDigits() }
        if current == UInt8(ascii: ".") {
            position += 1
            try parseDigits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try parseDigits()
        }
        close(node)
    }

    private mutating func parseDigits() throws(JSONSyntaxError) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { position += 1 }
        guard position > start else { throw unexpected }
    }
}
