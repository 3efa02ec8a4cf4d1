/// A well-formed JSON value in its original bytes. Its parts are searched for when they are asked for, so reading it
/// allocates nothing.
///
/// We do not use Foundation's parser for three reasons. The parser must distinguish a call's parameters from unknown keys.
/// The envelope of every call is read on the one thread that serves all peers. And answers of servers must be readable
/// even if their text is broken (`Reading.lenient`).
///
/// It has no description, because replies contain tokens, which must not get into a message by string interpolation.
package struct JSONValue: Sendable {
    /// How a text is read that departs from RFC 8259.
    package enum Reading: Sendable {
        case strict
        /// Strict, but an unknown escape is found only when its string is read. Then an error can name the member, and
        /// documents of others may have one where nobody looks.
        case strictWhenRead
        /// For texts whose values must not be lost. In strings, control characters stand for themselves, an unknown
        /// escape stands for its character, and what is not valid Unicode becomes U+FFFD. Numbers may have signs, zeros
        /// and points that RFC 8259 forbids. Text after the value is ignored.
        case lenient
    }

    /// The bytes of the value as received; of a string, with its quotes. There is at least one.
    package let whole: ArraySlice<UInt8>

    init(checked whole: ArraySlice<UInt8>) {
        self.whole = whole
    }

    /// Reads `bytes`, which must contain one JSON value (RFC 8259) and white space; nil if they do not, are nested too
    /// deeply or have too many values, names included.
    ///
    /// - Parameter nestingMax: by default deep enough for every reply we know of, and shallow enough for every stack.
    package init?(
        _ bytes: ArraySlice<UInt8>,
        nestingMax: Int = 64,
        valuesMax: Int = .max,
        reading: Reading = .strict
    ) {
        var scanner = JSONScanner(bytes, nestingMax: nestingMax, valuesMax: valuesMax, reading: reading)
        guard let value = scanner.document() else { return nil }
        self.init(checked: value)
    }

    package init?(_ text: String) {
        self.init(Array(text.utf8)[...])
    }

    /// What the value is, to be seen from its first byte: a bracket, a quote, the first letter of a word, or of a number.
    private var first: UInt8 { whole[whole.startIndex] }

    package var isNull: Bool { first == UInt8(ascii: "n") }
    package var isObject: Bool { first == UInt8(ascii: "{") }

    /// The bytes of the value as received; of a string, the bytes between its quotes, with escapes.
    private var raw: ArraySlice<UInt8> { first == UInt8(ascii: "\"") ? whole.dropFirst().dropLast() : whole }

    /// The value as JSON, in its original form.
    package var text: String { String(decoding: whole, as: UTF8.self) }

    /// The value as JSON without white space between its parts.
    package var compactText: String {
        var (isInString, isEscaped) = (false, false)
        let kept = whole.filter { byte in
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

    /// The Boolean; nil unless the value is `true` or `false`.
    package var bool: Bool? {
        switch first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// The text of a string; nil for other values, and unless the string is valid UTF-8 whose escapes name Unicode
    /// scalars.
    package var string: String? { string(.strict) }

    /// The text of a string; nil for other values. Each string has a text in a lenient reading.
    package func string(_ reading: Reading) -> String? {
        guard first == UInt8(ascii: "\"") else { return nil }
        let raw = raw
        guard !raw.contains(UInt8(ascii: "\\")) else { return JSONEscapes.decode(raw, reading) }
        // The usual case. Checking other text makes the Swift runtime build types (measured: 60 µs, once).
        guard reading != .lenient, raw.contains(where: { $0 >= 0x80 }) else {
            return String(decoding: raw, as: UTF8.self)
        }
        return String(validating: raw, as: UTF8.self)
    }

    /// The digits of a number, in a lenient reading any word that is not in quotes; nil for other values.
    package var numberText: String? {
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "t"), UInt8(ascii: "f"),
            UInt8(ascii: "n"):
            nil
        default: text
        }
    }

    /// The integer; nil unless the value is a number without fraction and exponent, and in range.
    package var integer: Int64? { numberText.flatMap { Int64($0) } }

    /// The values of an array, in order; nil for other values.
    package var elements: [JSONValue]? {
        var scanner = JSONScanner(checked: whole)
        guard var hasNext = scanner.enter(UInt8(ascii: "[")) else { return nil }
        var elements: [JSONValue] = []
        while hasNext, let value = scanner.value() {
            elements.append(JSONValue(checked: value))
            hasNext = scanner.advance(in: UInt8(ascii: "[")) ?? false
        }
        return elements
    }

    /// The member `name` of an object; nil if it is missing, or if the value is not an object. Of two equal names, the
    /// first counts.
    package subscript(name: String) -> JSONValue? {
        for (key, value) in fields where key.isString(name) { return value }
        return nil
    }

    /// Whether the value is the string `text`.
    private func isString(_ text: String) -> Bool {
        // Escapes are rare in names. Without one, the bytes are the text itself.
        raw.contains(UInt8(ascii: "\\")) ? string == text : raw.elementsEqual(text.utf8)
    }

    /// The members of an object in their order, including repeated keys; nil for other values, or if a key is not text.
    package var members: [(key: String, value: JSONValue)]? {
        guard isObject else { return nil }
        var members: [(key: String, value: JSONValue)] = []
        for (key, value) in fields {
            guard let key = key.string else { return nil }
            members.append((key, value))
        }
        return members
    }

    /// Builds a value of another type from this one and all inside it, in one pass. Going down by `elements` and `fields`
    /// looks at what is inside once for each level.
    ///
    /// - Returns: nil as soon as one of the closures returns nil.
    package func fold<Node>(
        scalar: (JSONValue) -> Node?,
        array: ([Node]) -> Node?,
        object: ([(name: JSONValue, node: Node)]) -> Node?
    ) -> Node? {
        var scanner = JSONScanner(checked: whole)
        return scanner.fold(scalar: scalar, array: array, object: object)
    }

    /// The names and values of an object in their order, including repeated names; empty for other values.
    package var fields: Fields { Fields(scanner: JSONScanner(checked: whole)) }

    /// The names and values of an object, read one after the other.
    package struct Fields: Sequence, IteratorProtocol {
        private var scanner: JSONScanner
        private var hasNext: Bool

        fileprivate init(scanner: JSONScanner) {
            self.scanner = scanner
            hasNext = self.scanner.enter(UInt8(ascii: "{")) ?? false
        }

        package mutating func next() -> (key: JSONValue, value: JSONValue)? {
            guard hasNext, let name = scanner.memberName(), let value = scanner.value() else { return nil }
            hasNext = scanner.advance(in: UInt8(ascii: "{")) ?? false
            return (JSONValue(checked: name), JSONValue(checked: value))
        }
    }
}
