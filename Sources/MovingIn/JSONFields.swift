internal import RefreshCore
internal import StrictJSON

/// The members of one JSON object by name. If a name is repeated, the last value counts, as in the programs that wrote
/// it.
struct JSONFields {
    private let members: [String: JSONValue]

    /// Parses an object.
    ///
    /// - Throws: `tooLarge`, or `wrongFormat` if the bytes are not a JSON object.
    init(_ bytes: [UInt8], origin: String, expected: String) throws(ImportError) {
        guard bytes.count <= ImportLimit.sourceBytesMax else {
            throw .tooLarge(origin)
        }
        let document: JSONDocument
        do {
            document = try JSONDocument(
                bytes,
                nestingMax: ImportLimit.jsonNestingMax,
                valuesMax: ImportLimit.jsonValuesMax
            )
        } catch {
            throw .wrongFormat(origin, expected: expected)
        }
        guard let members = document.root.members else { throw .wrongFormat(origin, expected: expected) }
        self.members = Dictionary(members.map { ($0.key, $0.value) }) { $1 }
    }

    /// The members of an object in a document; nil for other values.
    init?(_ value: JSONValue) {
        guard let members = value.members else { return nil }
        self.members = Dictionary(members.map { ($0.key, $0.value) }) { $1 }
    }

    /// The objects inside the object `name`, ordered by their own names.
    func objects(_ name: String) -> [JSONFields] {
        guard let fields = members[name].flatMap(JSONFields.init) else { return [] }
        return fields.members.sorted { $0.key < $1.key }.compactMap { JSONFields($0.value) }
    }

    /// The objects of the array `name`.
    func elements(_ name: String) -> [JSONFields] {
        members[name]?.elements?.compactMap(JSONFields.init) ?? []
    }

    /// The object `name`.
    func object(_ name: String) -> JSONFields? {
        members[name].flatMap(JSONFields.init)
    }

    /// Whether the value is `true`.
    func isTrue(_ name: String) -> Bool {
        members[name]?.bool == true
    }

    /// The text `name`; nil if it is empty.
    func text(_ name: String) -> String? {
        guard let text = members[name]?.string, !text.isEmpty else { return nil }
        return text
    }

    func secret(_ name: String) -> Secret? {
        text(name).map { Secret($0) }
    }

    /// The texts of the array `name`; nil if it is not an array.
    func texts(_ name: String) -> [String]? {
        members[name]?.elements?.compactMap(\.string)
    }
}
