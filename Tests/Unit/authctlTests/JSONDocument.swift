import AuthRefreshInterface
import Foundation
import TestSupport
import Testing

/// The documentation page about JSON, read as data.
struct JSONDocument {
    struct Field {
        let name: String
        let type: String
        let isOptional: Bool
    }

    let text: String
    /// The objects by heading (a command or `error`), and the types of the interface by name.
    let objects: [String: [Field]]

    init() throws {
        text = try SourceTree.text("Sources/authrefreshd/Documentation.docc/JSON-of-authctl.md")
        var objects = Self.interfaceTypes
        var heading = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("### ") {
                heading = String(line.dropFirst(4))
            } else if let reply = line.firstMatch(of: /reply of `io\.authrefresh\.(\w+)`/) {
                objects[heading] = objects[String(reply.1)]
            } else if let row = line.wholeMatch(of: /\| `(\w+)` \| (\S+) \| (.*) \|/) {
                let isOptional = row.3.contains("Absent:")
                objects[heading, default: []].append(
                    Field(name: String(row.1), type: String(row.2), isOptional: isOptional)
                )
            }
        }
        self.objects = objects
    }

    /// The types of the interface by name, and the replies of its methods by method name.
    private static var interfaceTypes: [String: [Field]] {
        var types: [String: [Field]] = [:]
        var name = ""
        for line in Interface.text.split(separator: "\n") {
            if let opening = line.firstMatch(of: /^(?:type|method|error) (\w+) ?\(/) { name = String(opening.1) }
            // The parameters of a method are not part of its reply.
            if line.hasPrefix(") -> (") { types[name] = [] }
            if let field = line.wholeMatch(of: /\ \ (\w+): (\??)(.*?),?/) {
                types[name, default: []].append(
                    Field(name: String(field.1), type: String(field.3), isOptional: !field.2.isEmpty)
                )
            }
        }
        return types
    }

    /// Records an issue for each difference between a value and the page's description of it.
    func check(_ value: Any, _ type: String, _ place: String) throws {
        let comment = Comment(rawValue: "\(place): \(type)")
        switch type {
        case "string": #expect(value is String, comment)
        case "bool": #expect((value as? NSNumber).map(Self.isBool) == true, comment)
        case "int": #expect((value as? NSNumber).map { !Self.isBool($0) && Self.isWhole($0) } == true, comment)
        case "float": #expect((value as? NSNumber).map { !Self.isBool($0) } == true, comment)
        case "object": #expect(value is [String: Any], comment)
        case _ where type.hasPrefix("[]"):
            for element in try #require(value as? [Any], comment) {
                try check(element, String(type.dropFirst(2)), place)
            }
        case _ where type.hasPrefix("[string]"):
            for (_, element) in try #require(value as? [String: Any], comment) {
                try check(element, String(type.dropFirst(8)), place)
            }
        default: try checkObject(#require(value as? [String: Any], comment), type, place)
        }
    }

    private func checkObject(_ object: [String: Any], _ type: String, _ place: String) throws {
        let fields = try #require(objects[type], "the page has no section '\(type)', which \(place) needs")
        // Each point in time occurs twice, as the page says at its beginning.
        let instants = fields.map(\.name).filter { $0.hasSuffix("USec") }
        for name in instants {
            let stamp = (object[name] as? NSNumber).flatMap { Self.stamp($0.int64Value) }
            #expect(object[String(name.dropLast(4))] as? String == stamp, "\(place): \(type).\(name)")
        }
        let names = fields.map(\.name) + instants.map { String($0.dropLast(4)) }
        #expect(
            Set(object.keys).subtracting(names) == [],
            "\(place): \(type) has fields that are not listed"
        )
        for field in fields {
            guard let value = object[field.name] else {
                #expect(field.isOptional, "\(place): \(type).\(field.name) is not there")
                continue
            }
            try check(value, field.type, "\(place): \(type).\(field.name)")
        }
    }

    /// The stamp for a point in time according to Foundation.
    private static func stamp(_ instant: Int64) -> String? {
        guard (0..<253_402_300_800_000_000).contains(instant) else { return nil }
        let formatter = ISO8601DateFormatter()
        let text = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(instant / 1_000_000)))
        let fraction = instant % 1_000_000
        guard fraction > 0 else { return text }
        return text.dropLast() + "." + String(format: "%06d", fraction) + "Z"
    }

    private static func isWhole(_ number: NSNumber) -> Bool {
        number.doubleValue == number.doubleValue.rounded()
    }

    private static func isBool(_ number: NSNumber) -> Bool {
        number === NSNumber(value: true) || number === NSNumber(value: false)
    }
}
