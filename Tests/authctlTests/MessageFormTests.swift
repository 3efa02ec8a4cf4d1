import ArgumentParser
import AuthRefreshInterface
import TestSupport
import Testing

@testable import authctl

/// Compares each text of `Messages` with the required form: what failed, on what, why; then what to do, with a command
/// that parses.
@Suite struct MessageFormTests {
    private struct Row {
        let place: String
        let message: String
        var hints: [String] = []
    }

    /// A line with its beginning, `authctl: error: `, fits into two rows of a terminal with 80 columns.
    private static let longestMessage = 160 - "authctl: error: ".count

    /// Docker compares this message with its own text, so nothing may follow it.
    private static let withoutHint: Set<WrongUse> = [.noDockerCredentials, .noDockerServer]

    private static let errors: [Row] = {
        let uses = Samples.wrongUses.map { Row(place: "\($0)", message: $0.message, hints: [$0.hint]) }
        let documents = Samples.documents.map { Row(place: "\($0)", message: $0.message, hints: [$0.hint]) }
        let options = Samples.options.map { Row(place: "\($0)", message: $0.message) }
        return uses + documents + options + Samples.connections.map { row("\($0)", $0.report) }
            + Samples.secrets.map { row("\($0)", $0.report) } + Samples.windows.map { row("\($0)", $0.report) }
            + Samples.states.map { row($0.state, Report.notFresh($0)) }
            + AuthctlErrorTests.rows.map { row("\($0.0)", $0.0.report) }
            + RefusalReportTests.rows.map { name, parameters, _ in
                // The daemon's own words are not this program's.
                row(name, Refusal(name: name, parameters: parameters).report)
            }
    }()

    private static func row(_ place: String, _ report: Report) -> Row {
        Row(place: place, message: report.message, hints: report.hints)
    }

    @Test func `every message says on one short line what failed`() {
        for row in Self.errors {
            #expect(MessageForm.flaws(ofMessage: row.message, names: ["Google", "KUBERNETES"]) == [], "\(row.place)")
            #expect(row.message.count <= Self.longestMessage, "\(row.place): \(row.message)")
        }
    }

    @Test func `every wrong use has a hint, unless another program reads it`() {
        for wrong in Samples.wrongUses {
            #expect(wrong.hint.isEmpty == Self.withoutHint.contains(wrong), "\(wrong)")
        }
        #expect(Samples.documents.allSatisfy { !$0.hint.isEmpty })
        #expect(Samples.connections.allSatisfy { !$0.report.hints.isEmpty })
        #expect(Samples.windows.allSatisfy { !$0.report.hints.isEmpty })
        #expect(Samples.states.allSatisfy { !Report.notFresh($0).hints.isEmpty })
    }

    @Test func `every hint is plain`() {
        for row in Self.errors {
            for hint in row.hints where !hint.isEmpty { #expect(MessageForm.flaws(of: hint) == [], "\(row.place)") }
        }
    }

    @Test func `every command in a hint is one that the parser takes`() {
        var count = 0
        for (place, text) in Self.errors.flatMap({ row in row.hints.map { (row.place, $0) } }) {
            for words in Self.commands(in: text) {
                count += 1
                let arguments = TokenFileName.fillIn(Array(words.dropFirst()))
                do {
                    _ = try AuthctlCommand.parseAsRoot(arguments)
                } catch {
                    // Help that was asked for is thrown, too.
                    let isHelp = AuthctlCommand.exitCode(for: error) == .success
                    #expect(isHelp, "\(place): \(words.joined(separator: " "))")
                }
            }
        }
        #expect(count > 20)
    }

    @Test func `every message has a sample`() {
        #expect(Set(Samples.wrongUses.map(Samples.name)).count == Samples.wrongUsesCount)
        #expect(Set(Samples.documents.map(Samples.name)).count == Samples.documentsCount)
        #expect(Set(Samples.options.map(Samples.name)).count == Samples.optionsCount)
        #expect(Set(Samples.flaws.map(Samples.name)).count == Samples.flawsCount)
        #expect(Set(Samples.connections.map(Samples.name)).count == Samples.connectionsCount)
        #expect(Set(Samples.secrets.map(Samples.name)).count == Samples.secretsCount)
        #expect(Set(Samples.windows.map(Samples.name)).count == Samples.windowsCount)
        #expect(Set(Samples.states.map(\.state)).count == AccountState.allCases.count + 1)
    }

    /// The commands that a hint is, ends with after a colon, or quotes.
    private static func commands(in hint: String) -> [[String]] {
        let quoted = hint.matches(of: /'(authctl [^']+)'/).map { String($0.1) }
        let bare = hint.firstMatch(of: /(?:^|: )(authctl [^;]+)$/).map { [String($0.1)] } ?? []
        return (quoted + bare).map { $0.split(separator: " ").map(String.init) }
    }
}
