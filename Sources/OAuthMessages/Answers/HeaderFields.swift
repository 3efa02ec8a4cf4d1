/// The header fields of a request or an answer, in their order. Names are compared without regard to case (RFC 9110 §5.1).
package struct HeaderFields: Sendable, ExpressibleByDictionaryLiteral {
    package private(set) var fields: [(name: String, value: String)]

    package init(_ fields: some Sequence<(name: String, value: String)>) {
        self.fields = Array(fields)
    }

    package init(dictionaryLiteral fields: (String, String)...) {
        self.fields = fields.map { (name: $0, value: $1) }
    }

    /// The values of all fields with this name, each as it was sent; empty if there is none.
    package subscript(name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    /// The value of the first field with this name; nil if there is none.
    package func first(name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }?.value
    }

    /// Whether there is a field with this name.
    package func contains(name: String) -> Bool {
        fields.contains { Self.isSame($0.name, name) }
    }

    package mutating func add(name: String, value: String) {
        fields.append((name, value))
    }

    /// Sets the one value of a field.
    package mutating func replaceOrAdd(name: String, value: String) {
        fields.removeAll { Self.isSame($0.name, name) }
        add(name: name, value: value)
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
