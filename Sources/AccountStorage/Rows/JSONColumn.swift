import Foundation
import RefreshCore

/// Reads and writes the columns that hold a map. Keys are sorted, so that equal values give equal texts.
enum JSONColumn {
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Reads what `text(of:)` wrote; nil for anything else.
    static func value<Value: Decodable>(_ type: Value.Type, from text: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// Like `text(of:)`, but without the encoder if the map is empty, as it nearly always is.
    static func text(ofMap map: [String: String]) throws -> String {
        map.isEmpty ? "{}" : try text(of: map)
    }

    /// The facts without a column of their own; nil if there are none.
    static func text(ofFacts facts: GrantFacts) throws -> String? {
        guard facts.person != nil || facts.consent != nil || facts.scope != nil else { return nil }
        return try text(of: facts)
    }

    static func map(from text: String) -> [String: String]? {
        text == "{}" ? [:] : value([String: String].self, from: text)
    }
}
