internal import TextEncodings

/// The members of one JSON object by name. If a name is repeated, the last value counts, as in the programs that write
/// such files.
package struct JSONFields: Sendable {
    private let members: [String: JSONValue]

    /// Parses an object, which a byte order mark may precede; nil if the bytes are something else.
    package init?(_ bytes: [UInt8]) {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let value = JSONValue(
            text,
            nestingMax: ImportLimit.jsonNestingMax,
            valuesMax: ImportLimit.jsonValuesMax,
            reading: .strictWhenRead
        )
        guard let value else { return nil }
        self.init(value)
    }

    private init?(_ value: JSONValue) {
        guard let members = value.members else { return nil }
        self.members = Dictionary(members.map { ($0.key, $0.value) }) { $1 }
    }

    /// The values inside the object `name`, ordered by their own names; nil for one that is not an object.
    package func values(_ name: String) -> [JSONFields?] {
        guard let fields = members[name].flatMap(JSONFields.init) else { return [] }
        return fields.members.sorted { $0.key < $1.key }.map { JSONFields($0.value) }
    }

    /// The objects of the array `name`.
    package func elements(_ name: String) -> [JSONFields] {
        members[name]?.elements?.compactMap(JSONFields.init) ?? []
    }

    /// The object `name`.
    package func object(_ name: String) -> JSONFields? {
        members[name].flatMap(JSONFields.init)
    }

    /// Whether the value is `true`.
    package func isTrue(_ name: String) -> Bool {
        members[name]?.bool == true
    }

    /// The text `name`; nil if it is empty.
    package func text(_ name: String) -> String? {
        guard let text = members[name]?.string, !text.isEmpty else { return nil }
        return text
    }

    /// The text of the first of these names that has one.
    package func text(of names: [String]) -> String? {
        names.lazy.compactMap { text($0) }.first
    }

    /// The texts of the array `name`; nil if it is not an array.
    package func texts(_ name: String) -> [String]? {
        members[name]?.elements?.compactMap(\.string)
    }
}
