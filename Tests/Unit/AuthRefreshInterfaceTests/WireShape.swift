import Foundation
import Testing

@testable import AuthRefreshInterface

/// Compares a wire type with the fields in the description, by decoding samples.
struct WireShape {
    let description: InterfaceDescription

    /// Records an issue for each difference in names, order, types and optionality.
    func check<Wire: Codable>(_ type: Wire.Type, _ fields: [InterfaceDescription.Field], _ name: String) throws {
        let sample = try object(fields)
        let value = try decode(type, sample)

        // A field that exists only in Swift would not be noticed with any sample.
        let known = Mirror(reflecting: value).children.flatMap { child in
            // The new settings are members on the same level as the others.
            value is UpdateAccount.Parameters && child.label == "settings"
                ? Setting.changeable.map(\.name) : [child.label].compactMap(\.self)
        }
        #expect(known == fields.map(\.name), "\(name): fields")
        let again = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? NSDictionary
        #expect(again == sample as NSDictionary, "\(name): a field is lost on the way")

        for field in fields {
            var without = sample
            without[field.name] = nil
            #expect(accepts(type, without) == field.isOptional, "\(name).\(field.name): optionality")
            without[field.name] = NSNull()
            #expect(accepts(type, without) == field.isOptional, "\(name).\(field.name): null")
            for wrong in ["text", 7, true, [1], ["k": 1]] as [Any] where !isSample(wrong, of: field) {
                without[field.name] = wrong
                #expect(!accepts(type, without), "\(name).\(field.name) takes \(wrong)")
            }
        }
    }

    private func object(_ fields: [InterfaceDescription.Field]) throws -> [String: Any] {
        try fields.reduce(into: [:]) { $0[$1.name] = try sample($1.type) }
    }

    private func sample(_ type: String) throws -> Any {
        switch type {
        case "string": return "text"
        // Greater than 2^53: a wire type with a floating-point number would not return it exactly.
        case "int": return NSNumber(value: 9_007_199_254_740_993 as Int64)
        case "bool": return NSNumber(value: true)
        case "float": return NSNumber(value: 0.5)
        default: break
        }
        if type.hasPrefix("[]") { return [try sample(String(type.dropFirst(2)))] }
        if type.hasPrefix("[string]") { return ["key": try sample(String(type.dropFirst(8)))] }
        let member = try #require(description.members(.type).first { $0.name == type }, "no type is called \(type)")
        return try object(member.fields)
    }

    private func isSample(_ value: Any, of field: InterfaceDescription.Field) -> Bool {
        switch field.type {
        case "string": value is String
        case "int": value is Int && !(value is Bool)
        case "bool": value is Bool
        // A whole number is also a float.
        case "float": value is Int && !(value is Bool)
        case "[]int": value is [Int]
        case "[string]int": value is [String: Int]
        // Any object is valid if all of its fields may be absent.
        default:
            value is [String: Any]
                && description.members(.type).contains { $0.name == field.type && $0.fields.allSatisfy(\.isOptional) }
        }
    }

    private func accepts<Wire: Decodable>(_ type: Wire.Type, _ object: [String: Any]) -> Bool {
        (try? decode(type, object)) != nil
    }

    private func decode<Wire: Decodable>(_ type: Wire.Type, _ object: [String: Any]) throws -> Wire {
        try JSONDecoder().decode(type, from: JSONSerialization.data(withJSONObject: object))
    }
}
