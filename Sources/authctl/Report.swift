internal import AuthRefreshInterface
internal import Basics

/// Why a command failed, as people and programs see it: one error line, then hints.
struct Report: Error, Hashable, Sendable {
    /// What a command that goes on after a failure has to tell apart.
    enum Cause: Hashable, Sendable {
        /// The daemon has answered with an error.
        case refused(ErrorReply)
        /// The daemon has answered, and the account's state says that the refresh failed.
        case notFresh
        /// The daemon went away before its answer was complete.
        case ended
        /// Nobody answers at the socket.
        case unreachable
        case other
    }

    var status: ExitStatus
    /// The daemon's name of the error, or our own: `authctl.Usage`. Empty if everything was reported already.
    let name: String
    /// The error text: lower case, no full stop. Empty if everything was reported already.
    var message: String
    /// The hints: commands or sentences that help.
    var hints: [Hint] = []
    /// The daemon's parameters of the error as JSON; nil if it sent none, or they may not be shown.
    var parameters: String?
    private(set) var cause = Cause.other
    /// Whether the daemon says that it got no answer from an authorization server.
    var isWithoutAnswer = false

    init(
        status: ExitStatus,
        name: String,
        message: String,
        hints: [Hint] = [],
        parameters: String? = nil,
        cause: Cause = .other
    ) {
        self.status = status
        self.name = name
        self.message = message
        self.hints = hints.filter { !$0.isEmpty }
        self.parameters = parameters
        self.cause = cause
    }

    /// The daemon's error reply that this reports; nil for any other failure.
    var reply: ErrorReply? { if case .refused(let reply) = cause { reply } else { nil } }

    /// Whether this is the daemon's answer about one account, so that the connection can still be used.
    var isOutcome: Bool { reply != nil || cause == .notFresh }

    /// This report, after a text about what was done in spite of the failure.
    func following(_ done: String) -> Report {
        var report = self
        report.message = "\(done), but \(message)"
        report.cause = .other
        return report
    }
}

extension Report {
    static let cancelled = Report(status: .cancelled, name: "authctl.Cancelled", message: "cancelled")

    /// The failures were already reported one by one. Only the exit status is left.
    static func reported(_ status: ExitStatus) -> Report {
        Report(status: status, name: "", message: "")
    }

    /// The arguments do not fit together. The daemon was not called.
    ///
    /// - Parameter hint: what to type instead; nil if another program reads the message.
    static func usage(_ message: String, hint: Hint? = nil) -> Report {
        Report(status: .usage, name: "authctl.Usage", message: message, hints: hint.map { [$0] } ?? [])
    }

    /// The content of a file or of standard input is not what the command needs. It is never repeated, because it may be a
    /// secret.
    static func document(_ message: String, hint: Hint) -> Report {
        Report(status: .badData, name: "authctl.UnusableDocument", message: message, hints: [hint])
    }

    static let brokenJSON = document(
        "the file contains invalid JSON",
        hint: "the file may be cut short or edited: export it again"
    )

    static let isServiceAccountKey = document(
        "the file contains the key of a service account",
        hint:
            "\(Command("account", "add", "NAME", "--provider", "google", "--grant", "jwt-bearer", "--client-key-file", "FILE", "--scope", "SCOPE"))"
    )
}
