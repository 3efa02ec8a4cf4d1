import AuthRefreshInterface
import Foundation
import TestSupport
import Testing

@testable import authrefreshd

/// Compares the table of `JournalEvents.swift` with the catalog. The rows are read from the source, because those with
/// fields are functions.
struct JournalCatalogTests {
    private struct Row {
        let id: String
        let message: String
        let fields: Set<String>
    }

    private static func rows() throws -> [Row] {
        let source = try SourceTree.text("Sources/authrefreshd/Logging/JournalEvents.swift")
        let keys = try SourceTree.text("Sources/AuthRefreshInterface/JournalKey.swift")
            .matches(of: /case ([A-Za-z]+) = "(AUTHREFRESH_[A-Z_]+)"/).map { (name: $0.1, field: String($0.2)) }
        let starts = source.matches(of: /(?:notice|warning|error)\(\s*"([^"]*)",\s*"([^"]*)"\s*\)/)
        let ends = starts.dropFirst().map(\.range.lowerBound) + [source.endIndex]
        return zip(starts, ends).map { start, end in
            let rest = source[start.range.upperBound..<end].prefix { $0 != "}" }
            let own = keys.filter { rest.contains(".\($0.name): ") }.map(\.field)
            // Those of `RefreshFailure`.
            let others: [JournalKey] = rest.contains("], failure)") ? [.error, .detail, .correlationID] : []
            return Row(id: String(start.1), message: String(start.2), fields: Set(own + others.map(\.rawValue)))
        }
    }

    private static func entries() throws -> [(id: String, text: String)] {
        try SourceTree.text("systemd/authrefreshd.catalog").components(separatedBy: "\n-- ").dropFirst()
            .map { entry in (String(entry.prefix(32)), String(entry.drop { $0 != "\n" })) }
    }

    @Test func `every line of the journal has an entry in the catalog, and every entry a line`() throws {
        let ids = try Self.rows().map(\.id)
        #expect(ids.count > 50 && Set(ids).count == ids.count)
        for id in ids { #expect(id.wholeMatch(of: /[0-9a-f]{32}/) != nil, "\(id)") }
        #expect(try Self.entries().map(\.id).sorted() == ids.sorted())
    }

    @Test func `every line of the journal is plain and short, and no two are the same`() throws {
        let messages = try Self.rows().map(\.message)
        for message in messages {
            #expect(MessageForm.flaws(ofMessage: message) == [])
            #expect(message.count <= 100, "\(message)")
        }
        #expect(Set(messages).count == messages.count)
    }

    @Test func `every entry has a subject and says what to do`() throws {
        for entry in try Self.entries() {
            #expect(entry.text.contains("\nSubject: "), "\(entry.id)")
            let body = entry.text.components(separatedBy: "\n\n").dropFirst().joined()
            #expect(body.count > 40, "\(entry.id)")
            // What happened, then what to do, even if that is nothing.
            #expect(
                entry.text.trimmingCharacters(in: .newlines).components(separatedBy: "\n\n").count >= 3,
                "\(entry.id)"
            )
        }
    }

    @Test func `every entry names fields that its line has, and commands that there are`() throws {
        let rows = try Dictionary(uniqueKeysWithValues: Self.rows().map { ($0.id, $0) })
        // Those of every line about an account.
        let shared = Set([JournalKey.account, .issuer, .generation, .event, .correlationID].map(\.rawValue))
        let commands = try PageSources.commands()
        for entry in try Self.entries() {
            let fields = try #require(rows[entry.id]).fields.union(shared)
            for field in entry.text.matches(of: /AUTHREFRESH_[A-Z_]+/) {
                #expect(fields.contains(String(field.0)), "\(entry.id): \(field.0)")
            }
            for command in entry.text.matches(of: /authctl ((?:(?:account|store) )?[a-z]+)/) {
                let words = command.1.split(separator: " ").map(\.capitalized)
                #expect(commands.contains(words.joined()), "\(entry.id): \(command.0)")
            }
        }
    }
}
