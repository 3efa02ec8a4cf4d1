internal import AuthRefreshInterface
internal import CommandLineProgram
internal import Glibc
internal import StrictJSON
internal import Terminal
internal import TextEncodings
internal import VarlinkClient

/// Why a command failed.
indirect enum AuthctlError: Error, Hashable, Sendable {
    /// A secret was typed as an argument. `option` is the option's name without its value.
    case secretAsArgument(option: String)
    /// The command is unknown. `suggestion` is a command with a similar spelling.
    case unknownCommand(suggestion: String?, helpCommand: String)
    /// The arguments do not fit together. The daemon was not called.
    case usage(WrongUse)
    case secretFile(SecretFileError)
    /// The content of a file is not what the command needs.
    case unusableDocument(UnusableDocument)
    /// The server of the new account is not the expected one.
    case wrongIssuer(message: String, hints: [String])
    /// The command would have printed secrets to a terminal.
    case secretsToTerminal
    case cannotCreateFile(path: String, errno: Int32)
    case cannotWriteOutput(errno: Int32)
    /// The daemon's copy of the store cannot be used, and was not removed.
    case cannotReadBackup(reason: String, ExitStatus = .tryAgainLater)
    /// The user's journal cannot be read.
    case noJournal(reason: String)

    case connection(ConnectionError)
    case refused(Refusal)
    /// The new name belongs to another account. Unlike with `refused`, there is no advice about that other account.
    case nameTaken(Refusal)

    /// The daemon's answer shows that the refresh failed.
    case notFresh(AccountStatus)
    /// The account was changed, but its first refresh failed. `done` describes the change.
    case keptButNotFresh(done: String, cause: AuthctlError)
    /// One step of a sign-out failed. The later steps were done.
    case signOutFailed(account: String, step: String, reason: String)
    /// The failures were already reported one by one. Only the exit status is left.
    case reported(ExitStatus)
    /// A program of ours is not where it should be.
    case cannotStart(ProgramBeside, path: String, errno: Int32)
    /// The command that should get the token cannot be started.
    case cannotRunCommand(name: String, errno: Int32)
    /// The token is useless for a program that does not have the account's key (RFC 9449).
    case boundToken(account: String)
    case cannotStartSSH(errno: Int32)
    case noPrivateWindow(PrivateWindowRefusal)
    /// Only the desktop's portal may open the page, and there is none.
    case noPortal
    /// Only the desktop's portal may open the page, and it failed.
    case portalFailed
    /// The named browser is missing, opens no window, or must not be started. Another browser would not be what the user asked for.
    case noSuchBrowser(message: String, hints: [String])
    /// The requested window is not available; `cause` says why. Programs can tell this from wrong arguments.
    case noContext(cause: AuthctlError)
    /// The web session has ended with an address that is printed, and that contains an error of the server (RFC 6749
    /// §4.1.2.1).
    case callbackIsError(code: String)
    case cancelled
}

extension AuthctlError {
    /// The exit status and the lines for the user.
    var report: Report {
        switch self {
        case .secretAsArgument(let option): Self.secretAsArgumentReport(option)
        case .unknownCommand(let suggestion, let helpCommand):
            Report(
                status: .usage,
                message: "no command has this name",
                hints: [suggestion.map { "did you mean '\($0)'?" } ?? "see '\(helpCommand)'"]
            )
        case .usage(let wrong): Report(status: .usage, message: wrong.message, hints: [wrong.hint])
        case .secretFile(let error): error.report
        case .unusableDocument(let flaw): Report(status: .badData, message: flaw.message, hints: [flaw.hint])
        case .wrongIssuer(let message, let hints): Report(status: .badData, message: message, hints: hints)
        case .secretsToTerminal:
            Report(
                status: .usage,
                message: "the export contains secrets, and standard output is a terminal",
                hints: ["use --output FILE, or --show-secrets to see them here"]
            )
        case .cannotCreateFile(let path, let number): Self.cannotCreateReport(path, number)
        case .cannotWriteOutput(let number):
            Report(
                status: .tryAgainLater,
                message: "cannot write to standard output: \(systemText(number))",
                hints: [Self.hint(forRoom: number)].compactMap(\.self)
            )
        case .cannotReadBackup(let reason, let status):
            Report(status: status, message: "cannot read the daemon's copy of the store: \(reason)")
        case .noJournal(let reason):
            Report(
                status: .daemonUnreachable,
                message: "the journal cannot be read: \(PlainText.line(reason))",
                hints: ["journalctl --user -u authrefreshd"]
            )
        case .connection(let error): error.report
        case .refused(let refusal): refusal.report
        case .nameTaken(let refusal): Self.nameTakenReport(refusal)
        case .notFresh(let status): .notFresh(status)
        case .keptButNotFresh(let done, let cause):
            cause.report.following(done)
        case .signOutFailed(let account, let step, let reason):
            Report(
                status: .tryAgainLater,
                message: "'\(account)': \(SignOutText.failure(of: step)): \(reason)",
                hints: [SignOutText.hint(for: step, of: account)]
            )
        case .cannotStart(_, let path, let number):
            Report(
                status: .misconfigured,
                message: "cannot start '\(path)': \(systemText(number))",
                hints: ["systemd/install puts it beside authctl"]
            )
        case .cannotRunCommand(let name, let number):
            Report(
                status: number == ENOENT ? .commandNotFound : .cannotRunCommand,
                message: "cannot start '\(PlainText.line(name))': \(systemText(number))"
            )
        case .boundToken(let account):
            Report(
                status: .misconfigured,
                message:
                    "the tokens of '\(PlainText.line(account))' are bound to a key, which the program does not have",
                hints: ["if the server allows it, add an account without --dpop for this program"]
            )
        case .cannotStartSSH(let number):
            Report(
                status: .misconfigured,
                message: "cannot start 'ssh': \(systemText(number))",
                hints: ["install OpenSSH's client, for instance: sudo apt install openssh-client"]
            )
        case .noPrivateWindow(let refusal): refusal.report
        case .noPortal:
            Report(
                status: .misconfigured,
                message: "this desktop has no portal that could open the sign-in page",
                hints: [Self.withoutPortal]
            )
        case .portalFailed:
            Report(
                status: .misconfigured,
                message: "the desktop portal did not open the sign-in page",
                hints: ["'journalctl --user -t xdg-desktop-portal' may say why", Self.withoutPortal]
            )
        case .noSuchBrowser(let message, let hints): Report(status: .misconfigured, message: message, hints: hints)
        case .noContext(let cause):
            Report(status: .misconfigured, message: cause.report.message, hints: cause.report.hints)
        case .callbackIsError(let code):
            Report(
                status: .notPermitted,
                message: "the server refused, and sent the browser back with the error '\(PlainText.line(code))'",
                hints: ["the whole address is on standard output"]
            )
        case .reported(let status): Report(status: status, message: "")
        case .cancelled: Report(status: .cancelled, message: "cancelled")
        }
    }

    /// Whether this is the daemon's answer about one account, so that the connection can still be used.
    var isOutcome: Bool {
        switch self {
        case .refused, .nameTaken, .notFresh: true
        case .secretAsArgument, .unknownCommand, .usage, .secretFile, .unusableDocument, .wrongIssuer,
            .secretsToTerminal,
            .cannotCreateFile, .cannotWriteOutput, .cannotReadBackup, .noJournal, .connection, .keptButNotFresh,
            .signOutFailed,
            .cannotStart, .cannotStartSSH, .cannotRunCommand, .boundToken, .noPrivateWindow,
            .noPortal,
            .portalFailed, .noSuchBrowser,
            .noContext,
            .callbackIsError, .reported, .cancelled:
            false
        }
    }

    private static let withoutPortal = "leave out --portal to open a browser, or use --no-open to see the address"

    private static func secretAsArgumentReport(_ option: String) -> Report {
        let advice =
            switch option {
            case "--client-secret": "--client-secret-file FILE, or '-' to be asked"
            case "--refresh-token": "--refresh-token-file FILE, or '-' to be asked"
            default: "--client-secret-file and --refresh-token-file take a file, or '-' to be asked"
            }
        return Report(
            status: .usage,
            message: "'\(option)' would show a secret to every process on this machine",
            hints: [advice, "if you typed a secret, replace it: others may have read it, and your shell has kept it"]
        )
    }

    private static func nameTakenReport(_ refusal: Refusal) -> Report {
        var report = refusal.report
        report.hints = ["choose another name; those in use: authctl account list"]
        return report
    }

    private static func cannotCreateReport(_ path: String, _ number: Int32) -> Report {
        let status: ExitStatus =
            switch number {
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOSPC, EDQUOT, EFBIG, EIO: .tryAgainLater
            default: .usage
            }
        return Report(
            status: status,
            message: "cannot write '\(path)': \(systemText(number))",
            hints: [hint(forFile: number)].compactMap(\.self)
        )
    }

    private static func hint(forFile number: Int32) -> String? {
        switch number {
        case EEXIST: "an existing file is never replaced: name another"
        case EACCES, EPERM, EROFS: "name a file in a folder that you can write to"
        case ENOENT, ENOTDIR: "make its folder first"
        default: hint(forRoom: number)
        }
    }

    private static func hint(forRoom number: Int32) -> String? {
        switch number {
        case ENOSPC, EDQUOT: "free some space there, or name a file on another disk"
        case EFBIG: "allow larger files (ulimit -f), or name a file on another file system"
        default: nil
        }
    }
}

extension AuthctlError {
    /// The failure as one line for programs, with a newline; empty if everything was reported already.
    ///
    /// - Parameter more: hints after its own.
    func json(adding more: [String] = []) -> String {
        let report = report
        guard !report.message.isEmpty else { return "" }
        let hints = (report.hints + more).filter { !$0.isEmpty }.map { JSONText.quote(PlainText.line($0)) }
        return JSONText.object([
            ("error", JSONText.quote(name)),
            ("exitStatus", String(report.status.rawValue)),
            ("hints", "[\(hints.joined(separator: ","))]"),
            ("message", JSONText.quote(PlainText.line(report.message))),
            ("parameters", parameters.map(StampedJSON.text)),
        ]) + "\n"
    }

    /// The daemon's name of the error, or our own for errors that do not come from the daemon.
    var name: String {
        switch self {
        case .secretAsArgument: "authctl.SecretAsArgument"
        case .unknownCommand, .usage: "authctl.Usage"
        case .secretFile: "authctl.UnusableSecret"
        case .unusableDocument: "authctl.UnusableDocument"
        case .wrongIssuer: "authctl.WrongIssuer"
        case .secretsToTerminal: "authctl.SecretsToTerminal"
        case .cannotCreateFile: "authctl.CannotCreateFile"
        case .cannotWriteOutput: "authctl.CannotWriteOutput"
        case .cannotReadBackup: "authctl.CannotReadBackup"
        case .noJournal: "authctl.NoJournal"
        case .connection(let error): error.name
        case .refused(let refusal), .nameTaken(let refusal): refusal.name
        case .notFresh: "authctl.NotFresh"
        case .keptButNotFresh(_, let cause): cause.name
        case .signOutFailed: "authctl.SignOutStepFailed"
        case .reported: ""
        case .cannotStart(let program, _, _): program.errorName
        case .cannotRunCommand: "authctl.CannotRunCommand"
        case .boundToken: "authctl.BoundToken"
        case .cannotStartSSH: "authctl.CannotStartSSH"
        case .noPrivateWindow: "authctl.NoPrivateWindow"
        case .noPortal: "authctl.NoPortal"
        case .portalFailed: "authctl.PortalFailed"
        case .noSuchBrowser: "authctl.NoSuchBrowser"
        case .noContext(let cause): cause.name
        case .callbackIsError: "authctl.CallbackIsError"
        case .cancelled: "authctl.Cancelled"
        }
    }

    /// The daemon's parameters of the error as JSON; nil if it sent none.
    private var parameters: String? {
        switch self {
        case .refused(let refusal), .nameTaken(let refusal): refusal.shownParameters
        case .keptButNotFresh(_, let cause): cause.parameters
        case .notFresh(let status): JSONText.object([("status", WireText.encode(status))])
        case .secretAsArgument, .unknownCommand, .usage, .secretFile, .unusableDocument, .wrongIssuer,
            .secretsToTerminal,
            .cannotCreateFile, .cannotWriteOutput, .cannotReadBackup, .noJournal, .connection, .signOutFailed,
            .reported,
            .cannotStart, .cannotStartSSH, .cannotRunCommand, .boundToken, .noPrivateWindow,
            .noPortal,
            .portalFailed, .noSuchBrowser,
            .noContext,
            .callbackIsError, .cancelled:
            nil
        }
    }
}

/// A failure as users see it: one error line, then hints.
struct Report: Hashable, Sendable {
    let status: ExitStatus
    /// The error text: lower case, no full stop. Empty if everything was reported already.
    let message: String
    /// The hints: commands or sentences that help.
    var hints: [String] = []

    /// This report, after a text about what was done in spite of the failure.
    func following(_ done: String) -> Report {
        Report(status: status, message: "\(done), but \(message)", hints: hints)
    }

    /// The report on one line, for programs that show only one.
    var line: String {
        ([message] + hints.filter { !$0.isEmpty }).map { PlainText.line($0) }.joined(separator: "; ")
    }

    /// The lines for standard error, each with a newline.
    func text(_ style: TerminalStyle) -> String {
        guard !message.isEmpty else { return "" }
        let lines = [("error", message)] + hints.filter { !$0.isEmpty }.map { ("hint", $0) }
        return lines.map { kind, line in
            MessageLines.text(kind, CalledName.here.inText(PlainText.line(line)), style)
        }.joined()
    }
}
