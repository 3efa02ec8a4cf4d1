import Foundation
import Testing

@testable import authrefreshd

struct JournalCatalogTests {
    private static let catalog = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../systemd/authrefreshd.catalog").standardizedFileURL

    private func entries() throws -> [(id: String, text: String)] {
        let text = try String(contentsOf: Self.catalog, encoding: .utf8)
        return text.components(separatedBy: "\n-- ").dropFirst().map { entry in
            (String(entry.prefix(32)), String(entry.drop { $0 != "\n" }))
        }
    }

    @Test func `every event has an entry in the catalog, and every entry an event`() throws {
        let ids = try entries().map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(Set(ids) == Set(JournalEvent.allCases.map { "\($0.id)" }))
    }

    @Test func `every entry has a subject and says what to do`() throws {
        for entry in try entries() {
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

    @Test func `every entry names existing fields and commands`() throws {
        let keys = try PageSources.file("Sources/authrefreshd/Logging/JournalEvents.swift")
        let fields = Set(keys.matches(of: /= "(AUTHREFRESH_[A-Z_]+)"/).map(\.1))
        let commands = try PageSources.commands()
        for entry in try entries() {
            for field in entry.text.matches(of: /@([A-Z_]+)@/) {
                #expect(fields.contains(field.1), "\(entry.id): \(field.0)")
            }
            for command in entry.text.matches(of: /authctl ((?:(?:account|store) )?[a-z]+)/) {
                let words = command.1.split(separator: " ").map(\.capitalized)
                #expect(commands.contains(words.joined()), "\(entry.id): \(command.0)")
            }
        }
    }

    @Test func `no two events share an id`() {
        #expect(Set(JournalEvent.allCases.map { "\($0.id)" }).count == JournalEvent.allCases.count)
    }
}
