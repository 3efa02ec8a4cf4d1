import Foundation
import Testing

@testable import AuthRefreshInterface

/// What of the wire is written by hand agrees with the description. The rest is made from it.
@Suite struct InterfaceTests {
    /// A value of each type that a setting has. The number is greater than 2^53: a wire type with a floating-point number
    /// would not return it exactly.
    private let samples: [String: NSObject] = [
        "string": "text" as NSString, "int": NSNumber(value: 9_007_199_254_740_993 as Int64),
        "bool": NSNumber(value: true), "[]string": ["text"] as NSArray,
        "[string]string": ["key": "text"] as NSDictionary,
    ]

    @Test func `the settings are those of the description, in its order`() throws {
        let fields = try fields(of: "type AccountSettings")
        #expect(fields.map(\.name) == ["name"] + Setting.all.map(\.name))
        #expect(Set(Setting.all.map(\.option)).count == Setting.all.count)
        try check(AccountSettings.self, fields)
    }

    @Test func `the settings that can be changed are those of the description`() throws {
        let fields = try fields(of: "method UpdateAccount")
        #expect(Set(Setting.changeable.map(\.name)).isSubset(of: fields.map(\.name)))
        try check(UpdateAccount.Parameters.self, fields)
    }

    @Test func `every reachable limit is named, and no other`() throws {
        let comment = try #require(Interface.text.firstMatch(of: #/error LimitExceeded\(\n((?:  #.*\n)+)/#)).1
        let text = comment.split(separator: "\n").map { $0.drop { "# ".contains($0) } }.joined(separator: " ")
        let named = text.matches(of: #/(?:^|\. )([a-zA-Z]+): /#).map { String($0.1) }
        #expect(named == Limit.allCases.map(\.rawValue))
    }

    private typealias Field = (name: String, isOptional: Bool, type: String)

    /// The fields in the parentheses after `head`.
    private func fields(of head: String) throws -> [Field] {
        let text = Interface.text
        let start = try #require(text.firstRange(of: head)).upperBound
        let end = try #require(text[start...].firstRange(of: "\n)")).lowerBound
        return text[start..<end].matches(of: #/\n  ([a-zA-Z]+): (\??)([a-z\[\]]+)/#).map {
            (String($0.1), !$0.2.isEmpty, String($0.3))
        }
    }

    /// Records an issue for each difference in names, types and optionality.
    private func check<Wire: Codable>(_ type: Wire.Type, _ fields: [Field]) throws {
        let sample = fields.reduce(into: [:]) { $0[$1.name] = samples[$1.type] }
        let value = try decode(type, sample)
        let again = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? NSDictionary
        #expect(again == sample as NSDictionary, "a field is lost on the way")
        for field in fields {
            var other = sample
            other[field.name] = nil
            #expect(accepts(type, other) == field.isOptional, "\(field.name): optionality")
            for (wrong, value) in samples where wrong != field.type {
                other[field.name] = value
                #expect(!accepts(type, other), "\(field.name) takes \(wrong)")
            }
        }
    }

    private func accepts<Wire: Decodable>(_ type: Wire.Type, _ object: [String: NSObject]) -> Bool {
        (try? decode(type, object)) != nil
    }

    private func decode<Wire: Decodable>(_ type: Wire.Type, _ object: [String: NSObject]) throws -> Wire {
        try JSONDecoder().decode(type, from: JSONSerialization.data(withJSONObject: object))
    }
}
