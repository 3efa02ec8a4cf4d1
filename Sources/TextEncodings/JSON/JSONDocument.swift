/// A JSON text that was checked once, with an index of its values.
///
/// The index is flat: a container is followed by its children, including keys, and has the index of its end. We do not
/// use Foundation's parser for three reasons. The parser must distinguish a call's parameters from unknown keys. The
/// envelope of every call is read on the one thread that serves all peers. And answers of servers must be readable even
/// if their text is broken (`Reading.lenient`).
package final class JSONDocument: Sendable {
    enum Kind: UInt8 {
        case object, array, string, escapedString, number, `true`, `false`, null
    }

    struct Node {
        let kind: Kind
        /// The offset of the first byte; of a string, the byte after its opening quote.
        let start: Int32
        /// The offset after the last byte; of a string, that of its closing quote.
        var end: Int32
        /// The index of the node after this one and all its children.
        var next: Int32
    }

    /// How a text is read that departs from RFC 8259.
    package enum Reading: Sendable {
        case strict
        /// For texts whose values must not be lost. In strings, control characters stand for themselves, an unknown
        /// escape stands for its character, and what is not valid Unicode becomes U+FFFD. Numbers may have signs, zeros
        /// and points that RFC 8259 forbids. Text after the value is ignored.
        case lenient
    }

    let bytes: [UInt8]
    let nodes: [Node]
    let reading: Reading

    /// Reads `bytes`, which must contain one JSON value (RFC 8259) and white space.
    ///
    /// - Throws: `JSONSyntaxError` with the offset of the invalid byte.
    package init(
        _ bytes: [UInt8],
        nestingMax: Int,
        valuesMax: Int,
        reading: Reading = .strict
    ) throws(JSONSyntaxError) {
        var scanner = JSONScanner(bytes, nestingMax: nestingMax, valuesMax: valuesMax, reading: reading)
        try scanner.document()
        self.bytes = bytes
        self.nodes = scanner.nodes
        self.reading = reading
    }

    /// The outermost value.
    package var root: JSONValue { JSONValue(document: self, index: 0) }
}

/// One value within a document.
package struct JSONValue: Sendable {
    let document: JSONDocument
    let index: Int

    private var node: JSONDocument.Node { document.nodes[index] }

    package var isNull: Bool { node.kind == .null }
    package var isObject: Bool { node.kind == .object }

    /// The bytes of the value as received; of a string, the bytes between its quotes, with escapes.
    package var raw: ArraySlice<UInt8> { document.bytes[Int(node.start)..<Int(node.end)] }

    /// The bytes of the value as received; of a string, with its quotes.
    package var whole: ArraySlice<UInt8> {
        let quotes =
            switch node.kind {
            case .string, .escapedString: 1
            case .object, .array, .number, .true, .false, .null: 0
            }
        return document.bytes[Int(node.start) - quotes..<Int(node.end) + quotes]
    }

    /// The Boolean; nil unless the value is `true` or `false`.
    package var bool: Bool? {
        switch node.kind {
        case .true: true
        case .false: false
        case .object, .array, .string, .escapedString, .number, .null: nil
        }
    }

    /// The text of a string; nil for other values. If the reading is strict, it is also nil unless the string is valid
    /// UTF-8 whose escapes name Unicode scalars.
    package var string: String? {
        switch (node.kind, document.reading) {
        case (.string, .strict): String(validating: raw, as: UTF8.self)
        case (.string, .lenient): String(decoding: raw, as: UTF8.self)
        case (.escapedString, let reading): JSONEscapes.decode(raw, reading)
        case (.object, _), (.array, _), (.number, _), (.true, _), (.false, _), (.null, _): nil
        }
    }

    /// The digits of a number, in a lenient reading any word that is not in quotes; nil for other values.
    package var numberText: String? {
        node.kind == .number ? String(decoding: raw, as: UTF8.self) : nil
    }

    /// The values of an array, in order; nil for other values.
    package var elements: [JSONValue]? {
        guard node.kind == .array else { return nil }
        var values: [JSONValue] = []
        var child = index + 1
        while child < Int(node.next) {
            values.append(JSONValue(document: document, index: child))
            child = Int(document.nodes[child].next)
        }
        return values
    }

    /// Whether the value is a string of valid Unicode.
    package var isText: Bool {
        node.kind == .string && raw.allSatisfy { $0 < 0x80 } || string != nil
    }

    /// Whether the value is the string `text`, which is ASCII. This allocates nothing, unless the string has escapes.
    package func spells(_ text: StaticString) -> Bool {
        guard node.kind == .string else { return node.kind == .escapedString && string == "\(text)" }
        return unsafe raw.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// The names and values of an object in their order, including repeated names; empty for other values.
    package var fields: Fields { Fields(of: self) }

    /// The members of an object in their order, including repeated keys; nil for other values.
    package var members: [(key: String, value: JSONValue)]? {
        guard node.kind == .object else { return nil }
        var members: [(key: String, value: JSONValue)] = []
        var child = index + 1
        while child < Int(node.next) {
            guard let key = JSONValue(document: document, index: child).string else { return nil }
            members.append((key, JSONValue(document: document, index: child + 1)))
            child = Int(document.nodes[child + 1].next)
        }
        return members
    }
}

extension JSONValue {
    /// The names and values of an object, read one after the other.
    package struct Fields: Sequence, IteratorProtocol {
        private let document: JSONDocument
        private var child: Int
        private let end: Int

        fileprivate init(of value: JSONValue) {
            document = value.document
            child = value.index + 1
            end = value.isObject ? Int(value.node.next) : child
        }

        package mutating func next() -> (key: JSONValue, value: JSONValue)? {
            guard child < end else { return nil }
            let key = JSONValue(document: document, index: child)
            let value = JSONValue(document: document, index: child + 1)
            child = Int(document.nodes[child + 1].next)
            return (key, value)
        }
    }
}
