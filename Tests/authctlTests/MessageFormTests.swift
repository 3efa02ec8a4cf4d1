import ArgumentParser
import Testing

@testable import authctl

/// Compares each text of `Messages` with the required form: what failed, on what, why; then what to do, with a command
/// that parses.
@Suite struct MessageFormTests {
    private struct Row: CustomTestStringConvertible {
        let place: String
        let message: String
        let hint: String?

        var testDescription: String { place }
    }

    /// A line with its beginning, `authctl: error: `, fits into two rows of a terminal with 80 columns.
    private static let longestMessage = 160 - "authctl: error: ".count

    /// Docker compares this message with its own text, so nothing may follow it.
    private static let withoutHint: Set<WrongUse> = [.noDockerCredentials]

    private static let rows =
        Samples.wrongUses.map { Row(place: "\($0)", message: $0.message, hint: $0.hint) }
        + Samples.documents.map { Row(place: "\($0)", message: $0.message, hint: $0.hint) }
        + Samples.options.map { Row(place: "\($0)", message: $0.message, hint: nil) }

    @Test func `every message says on one short line what failed`() {
        for row in Self.rows {
            let first = row.message.first
            let isName = ["Google", "KUBERNETES"].contains { row.message.hasPrefix($0) }
            #expect(first?.isLowercase == true || first == "'" || isName, "\(row.place)")
            #expect(row.message.count <= Self.longestMessage, "\(row.place): \(row.message)")
            expectPlain(row.message, row.place)
        }
    }

    @Test func `every message has a hint, unless another program reads it`() {
        for wrong in Samples.wrongUses {
            #expect(wrong.hint.isEmpty == Self.withoutHint.contains(wrong), "\(wrong)")
        }
        for row in Self.rows { if let hint = row.hint, !hint.isEmpty { expectPlain(hint, row.place) } }
        #expect(Samples.documents.allSatisfy { !$0.hint.isEmpty })
    }

    @Test func `the parser accepts every command in a hint`() throws {
        var count = 0
        for row in Self.rows {
            for words in Self.commands(in: row.hint ?? "") {
                count += 1
                let arguments = TokenFileName.fillIn(Array(words.dropFirst()))
                do {
                    _ = try AuthctlCommand.parseAsRoot(arguments)
                } catch {
                    // Help that was asked for is thrown, too.
                    let isHelp = AuthctlCommand.exitCode(for: error) == .success
                    #expect(isHelp, "\(row.place): \(words.joined(separator: " "))")
                }
            }
        }
        #expect(count > 10)
    }

    @Test func `every message has a sample`() {
        #expect(Set(Samples.wrongUses.map(Samples.name)).count == Samples.wrongUsesCount)
        #expect(Set(Samples.documents.map(Samples.name)).count == Samples.documentsCount)
        #expect(Set(Samples.options.map(Samples.name)).count == Samples.optionsCount)
        #expect(Set(Samples.flaws.map(Samples.name)).count == Samples.flawsCount)
    }

    private func expectPlain(_ text: String, _ place: String) {
        #expect(!text.hasSuffix("."), "\(place): \(text)")
        #expect(!text.contains("  "), "\(place): \(text)")
        #expect(!text.contains("!"), "\(place): \(text)")
        // VOICE: not these; each has a plain word.
        for word in ["comes to rest", "is none", "are none", "is had", "be had", "it is tried", "goes on", "holds"] {
            #expect(!text.contains(word), "\(place): \(text)")
        }
    }

    /// The commands that a hint is, or quotes.
    private static func commands(in hint: String) -> [[String]] {
        if hint.hasPrefix("authctl ") { return [hint.split(separator: " ").map(String.init)] }
        return hint.matches(of: /'(authctl [^']+)'/).map { $0.1.split(separator: " ").map(String.init) }
    }
}
