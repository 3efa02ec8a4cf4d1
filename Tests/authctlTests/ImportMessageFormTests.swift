import AuthRefreshInterface
import MovingIn
import RefreshCore
import StrictJSON
import TestSupport
import Testing

@testable import authimport

/// Holds every text of `authimport` to the form: what failed, on what, why; then what to do.
@Suite struct ImportMessageFormTests {
    private static let refusal = answer("io.authrefresh.LimitExceeded", "{}")

    /// An error of each kind that the texts tell apart.
    private static let refusals = [
        refusal,
        answer(InvalidSettingsError.name, #"{"field":"scopes","reason":"there are too many","hint":"drop some"}"#),
        answer(InvalidSettingsError.name, #"{"field":"scopes","reason":"there are too many"}"#),
        answer(
            InteractionRequiredError.name,
            #"{"account":"work","reason":"grantEnded","oauthError":"invalid_grant","sinceUSec":1,"hint":"authctl login"}"#
        ),
        answer(MisconfiguredError.name, #"{"account":"work","reason":"the client is unknown","hint":"check it"}"#),
        answer(TemporarilyUnavailableError.name, #"{"account":"work","reason":"the server is busy"}"#),
    ]

    /// Those whose text depends on the daemon's reason, because the server gave no code.
    private static let codeless = InteractionReason.allCases.map {
        answer(
            InteractionRequiredError.name,
            #"{"account":"work","reason":"\#($0.rawValue)","sinceUSec":1,"hint":"authctl login"}"#
        )
    }

    private static func answer(_ name: String, _ parameters: String) -> DaemonRefusal {
        guard let parameters = try? JSONText(parameters) else { preconditionFailure("'\(parameters)' is not JSON") }
        return DaemonRefusal(name: name, parameters: parameters)
    }

    private static let reading: [MovingInError] = [
        .wrongFormat(origin: "/f", expected: .kubeconfig), .encrypted(origin: "/f", hint: .rcloneConfiguration),
        .tooLarge(origin: "/f", bytesMax: 1024), .tooManyAccounts(origin: "/f", accountsMax: 100),
        .unreadable(origin: "/f", errno: 13), .programMissing(origin: "oidc-gen -p work", program: "oidc-gen"),
        .programFailed(origin: "oidc-gen -p work", program: "oidc-gen", status: 1),
        .programFailed(origin: "gpg -d", program: "gpg", status: 1),
        .programTimedOut(origin: "oidc-gen -p work", program: "oidc-gen", seconds: 60),
    ]

    private static let errors: [ImportError] =
        [
            .usage, .noSuchAccount(name: "work"), .ambiguous(name: "work", programs: [.rclone, .gcloud]),
            .oneAccountOnly(count: 2), .incomplete(.client, note: nil), .incomplete(.server, note: .serverUnreadable),
            .exists(name: "work", source: .rclone), .noDaemon(path: "/run/s"), .notPermitted(path: "/run/s"),
            .noAnswer, .refused(refusal), .grantRefused(name: "work", refusal), .notRemoved(name: "work"),
            .cannotWriteOutput, .cancelled,
        ] + reading.map(ImportError.reading)
        + SourceProgram.allCases.map { program in
            let process = ProcessTable.Entry(pid: 7, parent: 1, program: "mutt")
            return .stillRunning(program, processes: [process], sourceName: "work")
        }

    private static let texts: [ImportText] = [
        .nothingTaken, .nothingFound, .question(account: "work", .rclone, server: "as.example"),
        .programMustStop(.rclone, account: "work"), .taken(.rclone), .settingsTaken(.pizauth, account: "work"),
        .unproved(.rclone, nil), .unproved(.rclone, refusal),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ error: ImportError) -> String {
        switch error {
        case .usage: "usage"
        case .noSuchAccount: "noSuchAccount"
        case .ambiguous: "ambiguous"
        case .oneAccountOnly: "oneAccountOnly"
        case .reading: "reading"
        case .stillRunning: "stillRunning"
        case .incomplete: "incomplete"
        case .exists: "exists"
        case .noDaemon: "noDaemon"
        case .notPermitted: "notPermitted"
        case .noAnswer: "noAnswer"
        case .refused: "refused"
        case .grantRefused: "grantRefused"
        case .notRemoved: "notRemoved"
        case .cannotWriteOutput: "cannotWriteOutput"
        case .cancelled: "cancelled"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ error: MovingInError) -> String {
        switch error {
        case .wrongFormat: "wrongFormat"
        case .encrypted: "encrypted"
        case .tooLarge: "tooLarge"
        case .tooManyAccounts: "tooManyAccounts"
        case .unreadable: "unreadable"
        case .programMissing: "programMissing"
        case .programFailed: "programFailed"
        case .programTimedOut: "programTimedOut"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ text: ImportText) -> String {
        switch text {
        case .nothingTaken: "nothingTaken"
        case .nothingFound: "nothingFound"
        case .question: "question"
        case .programMustStop: "programMustStop"
        case .taken: "taken"
        case .settingsTaken: "settingsTaken"
        case .unproved: "unproved"
        }
    }

    @Test func `every error says on one plain line what failed`() {
        for error in Self.errors {
            let names = SourceProgram.allCases.map(\.title)
            #expect(MessageForm.flaws(ofMessage: error.message, names: names) == [])
        }
    }

    @Test func `every error of a person's input has a hint`() {
        for error in Self.errors {
            if let hint = error.hint { #expect(MessageForm.flaws(of: hint) == []) }
            switch error {
            // What is in the file, the output or the daemon's words is all there is to say.
            case .reading, .refused, .cannotWriteOutput, .cancelled: break
            case .usage, .noSuchAccount, .ambiguous, .oneAccountOnly, .stillRunning, .incomplete, .exists, .noDaemon,
                .notPermitted, .noAnswer, .grantRefused, .notRemoved:
                #expect(error.hint?.isEmpty == false, "\(error)")
            }
        }
    }

    @Test func `every note is one plain line`() {
        for text in Self.texts {
            let line = text.text.hasSuffix(" ") ? String(text.text.dropLast()) : text.text
            #expect(MessageForm.flaws(of: line) == [])
        }
    }

    @Test func `every error of the daemon is told by its reason, not by its name`() {
        for refusal in Self.refusals + Self.codeless {
            #expect(MessageForm.flaws(ofMessage: refusal.message) == [])
            if let hint = refusal.hint { #expect(MessageForm.flaws(of: hint) == []) }
            let isKnown = refusal.name != Self.refusal.name
            #expect(refusal.message.contains(refusal.name) != isKnown, "\(refusal.message)")
        }
        #expect(Set(Self.refusals.map(\.message)).count == 5)
        // What is a code on the wire is words here.
        for (reason, refusal) in zip(InteractionReason.allCases, Self.codeless) {
            #expect(!refusal.message.contains(reason.rawValue), "\(refusal.message)")
        }
    }

    /// What is shown after an account was taken over: a command, or a short line that ends in one.
    @Test(arguments: SourceProgram.allCases)
    func `every step that removes an account there is one plain line`(_ program: SourceProgram) throws {
        for token in [nil, "r-1"] {
            let account = MovableAccount(
                source: program,
                settings: AccountSettings(name: "work"),
                refreshToken: token.map { Secret($0) },
                origin: "/home/me/a file"
            )
            let steps = program.retire(account, sourceName: "work", name: "work")
            #expect(!steps.isEmpty)
            for step in steps {
                #expect(MessageForm.flaws(ofMessage: step) == [])
                #expect(!step.contains("/home/me/a file") || step.contains("'/home/me/a file'"), "\(step)")
            }
        }
    }

    @Test func `no text is without a sample`() {
        #expect(Set(Self.errors.map(Self.name)).count == 16)
        #expect(Set(Self.reading.map(Self.name)).count == 8)
        #expect(Set(Self.texts.map(Self.name)).count == 7)
    }
}
