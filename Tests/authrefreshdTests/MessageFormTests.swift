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

    private static func refusals(_ values: [some RefusedValue]) -> [Row] {
        values.map { Row(place: "\($0)", message: $0.texts.reason, hint: $0.texts.hint) }
    }

    private static let values =
        refusals(MessageSamples.settings) + refusals(MessageSamples.client) + refusals(MessageSamples.grants)
        + refusals(MessageSamples.delivery) + refusals(MessageSamples.arguments)

    private static let calls =
        NotNow.allCases.map { Row(place: "\($0)", message: $0.reason, hint: nil) }
        + MessageSamples.denials.map { Row(place: "\($0)", message: $0.reason, hint: $0.hint) }
        + MessageSamples.storeWork.map { Row(place: "\($0)", message: $0.reason, hint: $0.hint) }
        + MessageSamples.localFailures.map { Row(place: "\($0)", message: $0.summary, hint: nil) }
        + MessageSamples.signInObstacles.map { Row(place: "\($0)", message: $0.reason, hint: $0.hint) }
        + MessageSamples.tokenFileLacks.map { Row(place: "\($0)", message: $0.text, hint: nil) }
        + MessageSamples.callTexts.map { Row(place: "\($0)", message: $0.text, hint: $0.text) }
        + MessageSamples.journalDetails.map { Row(place: "\($0)", message: $0.text, hint: nil) }
        + WebSessionObstacle.allCases.map { Row(place: "\($0)", message: $0.hint, hint: nil) }

    private static let starts = MessageSamples.startErrors.map {
        Row(place: "\($0)", message: $0.description, hint: $0.hint, isReason: false)
    }

    private static let journal = JournalEvent.allCases.map {
        Row(place: "\($0)", message: "\($0.message)", hint: nil)
    }

    private static let rows = values + calls + starts + journal

    /// What a message may begin with beside a word in lower case.
    private static let names = ["Apple's", "ID tokens", "HS256", "\""]

    @Test func `every text is one plain line, lower case, without a full stop`() {
        for row in Self.rows {
            #expect(MessageForm.flaws(ofMessage: row.message, names: Self.names) == [], "\(row.place)")
        }
        for fault in MessageSamples.configurationFaults { #expect(MessageForm.flaws(of: fault.text) == [], "\(fault)") }
    }

    @Test func `every line of the journal is short, and no two are the same`() {
        for row in Self.journal { #expect(row.message.count <= 100, "\(row.place): \(row.message)") }
        #expect(Set(Self.journal.map(\.message)).count == Self.journal.count)
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
        #expect(count > 30)
    }

    @Test func `every field is a setting, a part of one, or a parameter of a call`() throws {
        let interface = try PageSources.file("Sources/AuthRefreshInterface/io.authrefresh.varlink")
        let fields =
            MessageSamples.settings.map(\.texts.field) + MessageSamples.client.map(\.texts.field)
            + MessageSamples.grants.map(\.texts.field) + MessageSamples.delivery.map(\.texts.field)
            + MessageSamples.arguments.map(\.texts.field)
        for field in Set(fields) { #expect(interface.contains("\(field):"), "\(field)") }
    }

    @Test func `no text is without a sample`() {
        typealias Samples = MessageSamples
        #expect(Set(Samples.settings.map(Samples.name)).count == Samples.settingsCount)
        #expect(Set(Samples.client.map(Samples.name)).count == Samples.clientCount)
        #expect(Set(Samples.grants.map(Samples.name)).count == Samples.grantsCount)
        #expect(Set(Samples.delivery.map(Samples.name)).count == Samples.deliveryCount)
        #expect(Set(Samples.arguments.map(Samples.name)).count == Samples.argumentsCount)
        #expect(Set(Samples.denials.map(Samples.name)).count == Samples.denialsCount)
        #expect(Set(Samples.storeWork.map(Samples.name)).count == Samples.storeWorkCount)
        #expect(Set(Samples.localFailures.map(Samples.name)).count == Samples.localFailuresCount)
        #expect(Set(Samples.sourceFlaws.map(Samples.name)).count == Samples.sourceFlawsCount)
        #expect(Set(Samples.signInObstacles.map(Samples.name)).count == Samples.signInObstaclesCount)
        #expect(Set(Samples.callTexts.map(Samples.name)).count == Samples.callTextsCount)
        #expect(Set(Samples.journalDetails.map(Samples.name)).count == Samples.journalDetailsCount)
        #expect(Set(Samples.tokenFileLacks.map(Samples.name)).count == Samples.tokenFileLacksCount)
        #expect(Set(Samples.configurationFaults.map(Samples.name)).count == Samples.configurationFaultsCount)
        #expect(Set(Samples.configurationErrors.map(Samples.name)).count == Samples.configurationErrorsCount)
        #expect(Set(Samples.keyErrors.map(Samples.name)).count == Samples.keyErrorsCount)
        #expect(Set(Samples.storeErrors.map(Samples.name)).count == Samples.storeErrorsCount)
        #expect(Set(Samples.socketErrors.map(Samples.name)).count == Samples.socketErrorsCount)
        #expect(Set(Samples.systemErrors.map(Samples.name)).count == Samples.systemErrorsCount)
        #expect(Set(Samples.startErrors.map(Samples.name)).count == Samples.startErrorsCount)
    }
}
