import ArgumentParser
import AuthRefreshInterface
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
            + Samples.states.map { row($0.state, RefreshOutcome.report(on: $0)) }
            + AuthctlErrorTests.rows.map { row("\($0.0)", $0.0.report) }
            + RefusalReportTests.rows.map { name, parameters, _ in
                // The daemon's own words are not this program's.
                row(name, Refusal(name: name, parameters: parameters).report)
            }
    }()

    private static let lines: [Row] =
        Samples.notes.map { Row(place: "\($0)", message: $0.text) }
        + Samples.warnings.map { Row(place: "\($0)", message: $0.text) }

    /// What systemd says of a unit is its own: `active (running)`.
    private static let findings: [Row] = Samples.findings.map {
        Row(place: $0.text, message: $0.text, hints: $0.advice.map { [$0] } ?? [])
    }

    private static func row(_ place: String, _ report: Report) -> Row {
        Row(place: place, message: report.message, hints: report.hints)
    }

    @Test func `every message says on one short line what failed`() {
        for row in Self.errors + Self.lines {
            let first = row.message.first
            let isName = ["Google", "KUBERNETES"].contains { row.message.hasPrefix($0) }
            #expect(first?.isLowercase == true || first == "'" || isName, "\(row.place)")
            #expect(row.message.count <= Self.longestMessage, "\(row.place): \(row.message)")
            Self.expectPlain(row.message, row.place)
        }
    }

    @Test func `every finding of doctor is plain, and what is wrong comes with advice`() {
        for finding in Samples.findings {
            let first = finding.text.first
            let isName = ["XDG", "AUTHREFRESH"].contains { finding.text.hasPrefix($0) }
            #expect(first?.isLowercase == true || first == "'" || isName, "\(finding.text)")
            Self.expectPlain(finding.text, finding.text)
            if finding.knownLevel > .note { #expect(finding.advice?.isEmpty == false, "\(finding.text)") }
        }
        for kind in Samples.findingKinds { #expect(kind.sampled == kind.all) }
    }

    @Test func `every wrong use has a hint, unless another program reads it`() {
        for wrong in Samples.wrongUses {
            #expect(wrong.hint.isEmpty == Self.withoutHint.contains(wrong), "\(wrong)")
        }
        #expect(Samples.documents.allSatisfy { !$0.hint.isEmpty })
        #expect(Samples.connections.allSatisfy { !$0.report.hints.isEmpty })
        #expect(Samples.windows.allSatisfy { !$0.report.hints.isEmpty })
        #expect(Samples.states.allSatisfy { !RefreshOutcome.report(on: $0).hints.isEmpty })
    }

    @Test func `every hint is plain`() {
        for row in Self.errors + Self.findings {
            for hint in row.hints where !hint.isEmpty { Self.expectPlain(hint, row.place) }
        }
    }

    @Test func `every command in a hint, a note or a warning is one that the parser takes`() {
        var count = 0
        let errors = Self.errors.flatMap { row in row.hints.map { (row.place, $0) } }
        for (place, text) in errors + Self.lines.map({ ($0.place, $0.message) }) {
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
        #expect(count > 40)
    }

    @Test func `every message has a sample`() {
        #expect(Set(Samples.wrongUses.map(Samples.name)).count == Samples.wrongUsesCount)
        #expect(Set(Samples.documents.map(Samples.name)).count == Samples.documentsCount)
        #expect(Set(Samples.options.map(Samples.name)).count == Samples.optionsCount)
        #expect(Set(Samples.flaws.map(Samples.name)).count == Samples.flawsCount)
        #expect(Set(Samples.notes.map(Samples.name)).count == Samples.notesCount)
        #expect(Set(Samples.warnings.map(Samples.name)).count == Samples.warningsCount)
        #expect(Set(Samples.connections.map(Samples.name)).count == Samples.connectionsCount)
        #expect(Set(Samples.secrets.map(Samples.name)).count == Samples.secretsCount)
        #expect(Set(Samples.windows.map(Samples.name)).count == Samples.windowsCount)
        #expect(Set(Samples.states.map(\.state)).count == AccountState.allCases.count + 1)
    }

    /// Expects what holds for every text for people.
    static func expectPlain(_ text: String, _ place: String) {
        #expect(!text.hasSuffix("."), "\(place): \(text)")
        #expect(!text.contains("  "), "\(place): \(text)")
        #expect(!text.contains("!"), "\(place): \(text)")
        // VOICE: not these; each has a plain word.
        for word in [
            "comes to rest", "is none", "are none", "is had", "be had", "it is tried", "goes on", "holds", "anew",
            "is taken", "no longer taken", "all the same",
        ] {
            #expect(!text.contains(word), "\(place): \(text)")
        }
    }

    /// The commands that a hint is, ends with after a colon, or quotes.
    private static func commands(in hint: String) -> [[String]] {
        let quoted = hint.matches(of: /'(authctl [^']+)'/).map { String($0.1) }
        let bare = hint.firstMatch(of: /(?:^|: )(authctl [^;]+)$/).map { [String($0.1)] } ?? []
        return (quoted + bare).map { $0.split(separator: " ").map(String.init) }
    }
}
