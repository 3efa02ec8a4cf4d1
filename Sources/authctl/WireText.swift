internal import FoundationEssentials

/// Converts wire types to JSON text and back.
enum WireText {
    /// The value as one line of JSON, with sorted members.
    static func encode(_ value: some Encodable) -> String {
        encode(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    /// The value as JSON for people to read.
    static func encodeIndented(_ value: some Encodable) -> String {
        encode(value, [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted])
    }

    private static func encode(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            preconditionFailure("a wire type holds only what JSON can say")
        }
    }

    /// The value; nil if the text does not have this type.
    static func decode<Value: Decodable>(_ type: Value.Type, fromText text: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
