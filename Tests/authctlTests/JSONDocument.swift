import AuthRefreshInterface
import Foundation
import Testing

/// The documentation's page about JSON, read as data.
struct JSONDocument {
    struct Field {
        let name: String
        let type: String
        let isOptional: Bool
    }

    let text: String
    /// By heading: a command, `error`, or a type of the interface.
    let objects: [String: [Field]]

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = "Sources/authrefreshd/Documentation.docc/JSON-of-authctl.md"
        text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        var objects: [String: [Field]] = [:]
        var heading = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("### ") {
                heading = String(line.dropFirst(4))
            } else if let row = line.wholeMatch(of: /\| `(\w+)` \| (\S+) \| (.*) \|/) {
                let isOptional = row.3.contains("Absent")
                objects[heading, default: []].append(
                    Field(name: String(row.1), type: String(row.2), isOptional: isOptional)
                )
            }
        }
        self.objects = objects
    }

    /// Records an issue for each difference between a value and what the page says of it.
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
        #expect(
            Set(object.keys).subtracting(fields.map(\.name)) == [],
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

    private static func isWhole(_ number: NSNumber) -> Bool {
        number.doubleValue == number.doubleValue.rounded()
    }

    private static func isBool(_ number: NSNumber) -> Bool {
        number === NSNumber(value: true) || number === NSNumber(value: false)
    }

    /// The tables that the interface description makes, by the names of its types.
    static func interfaceTables() throws -> [(name: String, table: String)] {
        let types = ["AccountStatus", "Failure", "AccountSettings", "ProviderProfile"]
        let replies = ["Subscribe", "GetInfo", "RekeyStore"]
        return try (types.map { "type \($0) (" } + replies.map { "method \($0)(" }).map { opening in
            var rest = try #require(Interface.text.split(separator: opening, maxSplits: 1).last)
            if opening.hasPrefix("method") {
                rest = try #require(rest.split(separator: "-> (\n", maxSplits: 1).last)
            }
            let body = try #require(rest.split(separator: "\n)", maxSplits: 1).first)
            return (opening, table(body))
        }
    }

    private static func table(_ body: Substring) -> String {
        var rows = ["| field | type | |", "|---|---|---|"]
        var comment: [String] = []
        for line in body.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("#") {
                comment.append(line.dropFirst().trimmingCharacters(in: .whitespaces))
            } else if let field = line.wholeMatch(of: /(\w+): \??(.*?),?/) {
                rows.append("| `\(field.1)` | \(field.2) | \(comment.joined(separator: " ")) |")
                comment = []
            }
        }
        return rows.joined(separator: "\n")
    }
}
