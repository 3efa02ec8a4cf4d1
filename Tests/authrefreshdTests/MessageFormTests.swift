import AuthRefreshInterface
import SignIn
import TestSupport
import Testing

@testable import authrefreshd

/// Holds every text of `Messages` to the form: what failed, on what, why; then what to do, with commands that there
/// are.
@Suite struct MessageFormTests {
    /// A text, and what to do about it.
    private struct Row {
        let place: String
        let message: String
        let hint: String?
        /// Whether `authctl` or the journal puts words before it: "the client id cannot be used: it is empty".
        var isReason = true
    }

    private static let calls =
        MessageSamples.tokenFileLacks.map { Row(place: "\($0)", message: $0.text, hint: nil) }

    private static let starts = MessageSamples.startErrors.map {
        Row(place: "\($0)", message: $0.description, hint: $0.hint, isReason: false)
    }

    private static let rows = calls + starts

    /// What a message may begin with beside a word in lower case.
    private static let names = ["Apple's", "ID tokens", "HS256", "\""]

    @Test func `every text is one plain line, lower case, without a full stop`() {
        for row in Self.rows {
            #expect(MessageForm.flaws(ofMessage: row.message, names: Self.names) == [], "\(row.place)")
        }
    }

    @Test func `every error at the start says on what, and what to do`() {
        for row in Self.starts {
            #expect(row.hint?.isEmpty == false, "\(row.place)")
            // A case of an enumeration is no sentence.
            #expect(!row.message.contains("errno:") && !row.message.contains("path:"), "\(row.place): \(row.message)")
        }
    }

    @Test func `every hint is plain, and names commands that there are`() throws {
        let commands = try PageSources.commands()
        var count = 0
        for row in Self.rows {
            guard let hint = row.hint else { continue }
            #expect(MessageForm.flaws(of: hint) == [], "\(row.place)")
            for command in hint.matches(of: /authctl ((?:(?:account|store) )?[a-z]+)/) {
                count += 1
                let words = command.1.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }
                #expect(commands.contains(words.joined()), "\(row.place): \(command.0)")
            }
        }
        #expect(count > 10)
    }

    @Test func `no text is without a sample`() {
        typealias Samples = MessageSamples
        #expect(Set(Samples.tokenFileLacks.map(Samples.name)).count == Samples.tokenFileLacksCount)
    }
}
