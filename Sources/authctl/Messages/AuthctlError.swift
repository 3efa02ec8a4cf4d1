internal import AuthRefreshInterface
internal import Glibc
internal import StrictJSON
internal import Terminal
internal import TextEncodings
internal import VarlinkClient

/// Why a command did not do its work.
indirect enum AuthctlError: Error, Hashable, Sendable {
    /// A secret was typed as an argument. `option` is the option's name without its value.
    case secretAsArgument(option: String)
    /// The word in a command's place is none. `suggestion` is a command that is spelled nearly so.
    case unknownCommand(suggestion: String?, helpCommand: String)
    /// The arguments do not fit together; nothing was asked of the daemon.
    case usage(WrongUse)
    case secretFile(SecretFileError)
    /// What a file holds is not what the command needs.
    case unusableDocument(UnusableDocument)
    /// The server of a new account is not what it is taken for.
    case wrongIssuer(message: String, hints: [String])
    /// Secrets would have gone to a terminal.
    case secretsToTerminal
    case cannotCreateFile(path: String, errno: Int32)
    case cannotWriteOutput(errno: Int32)
    case cannotReadBackup(errno: Int32)
    /// The user's journal cannot be read.
    case noJournal(reason: String)

    case connection(ConnectionError)
    case refused(Refusal)
    /// The new name of an account is another's. Unlike in `refused`, nothing about that other account is to be advised.
    case nameTaken(Refusal)

    /// The daemon answered with a state in which the refresh has failed.
    case notFresh(AccountStatus)
    /// The account was changed, but its first refresh did not succeed. `done` tells the change.
    case keptButNotFresh(done: String, cause: AuthctlError)
    /// One step of a sign-out was not done; those after it were.
    case signOutFailed(account: String, step: String, reason: String)
    /// The failures were told one by one; only the status is left to say.
    case reported(ExitStatus)
    /// The program that notifies is not where it should be.
    case cannotStartAgent(path: String, errno: Int32)
    /// The daemon's program, which restores a store, cannot be started.
    case cannotStartDaemon(path: String, errno: Int32)
    /// The command that was to have the token does not start.
    case cannotRunCommand(name: String, errno: Int32)
    /// The token is of no use to a program that does not have the account's key (RFC 9449).
    case boundToken(account: String)
    case cannotStartSSH(errno: Int32)
    case noPrivateWindow(PrivateWindowRefusal)
    /// The page was to be opened by the desktop's portal only, and there is none.
    case noPortal
    /// The page was to be opened by the desktop's portal only, and the portal did not.
    case portalFailed
    /// The browser that was named is not there, or opens no window; another one would not be what was asked for.
    case noSuchBrowser(name: String, hint: String)
    /// The window that was asked for cannot be had; `cause` says why. For programs that tell this from wrong arguments.
    case noContext(cause: AuthctlError)
    /// The address that a web session has ended with, and that is printed, carries an error of the server (RFC 6749 §4.1.2.1).
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
                message: "the export holds secrets, and standard output is a terminal",
                hints: ["use --output FILE, or --show-secrets to see them here"]
            )
        case .cannotCreateFile(let path, let number): Self.cannotCreateReport(path, number)
        case .cannotWriteOutput(let number):
            Report(status: .tryAgainLater, message: "cannot write to standard output: \(systemText(number))")
        case .cannotReadBackup(let number):
            Report(status: .tryAgainLater, message: "cannot read the daemon's copy of the store: \(systemText(number))")
        case .noJournal(let reason):
            Report(
                status: .daemonUnreachable,
                message: "the journal cannot be read: \(PlainText.line(reason))",
                hints: ["journalctl --user -u authrefreshd"]
            )
        case .connection(let error): error.report
        case .refused(let refusal): refusal.report
        case .nameTaken(let refusal): Self.nameTakenReport(refusal)
        case .notFresh(let status): RefreshOutcome.report(on: status)
        case .keptButNotFresh(let done, let cause):
            cause.report.following(done)
        case .signOutFailed(let account, let step, let reason):
            Report(
                status: .tryAgainLater,
                message: "'\(account)': \(SignOutText.failure(of: step)): \(reason)",
                hints: [SignOutText.hint(for: step, of: account)]
            )
        case .cannotStartAgent(let path, let number):
            Report(
                status: .misconfigured,
                message: "cannot start '\(path)': \(systemText(number))",
                hints: ["systemd/install puts it beside authctl"]
            )
        case .cannotStartDaemon(let path, let number):
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
                    "the tokens of '\(PlainText.line(account))' are bound to a key, and the program that asks can prove none",
                hints: ["add an account without --dpop for it, if the server lets you"]
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
                message: "there is no desktop portal here that opens the sign-in page",
                hints: [Self.withoutPortal]
            )
        case .portalFailed:
            Report(
                status: .misconfigured,
                message: "the desktop portal did not open the sign-in page",
                hints: ["'journalctl --user -t xdg-desktop-portal' may say why", Self.withoutPortal]
            )
        case .noSuchBrowser(let name, let hint):
            Report(
                status: .misconfigured,
                message: "there is no browser '\(PlainText.line(name))' that opens a window",
                hints: [hint]
            )
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

    /// Whether this is the daemon's answer about one account; the connection can be used further.
    var isOutcome: Bool {
        switch self {
        case .refused, .nameTaken, .notFresh: true
        case .secretAsArgument, .unknownCommand, .usage, .secretFile, .unusableDocument, .wrongIssuer,
            .secretsToTerminal,
            .cannotCreateFile, .cannotWriteOutput, .cannotReadBackup, .noJournal, .connection, .keptButNotFresh,
            .signOutFailed,
            .cannotStartAgent, .cannotStartDaemon, .cannotStartSSH, .cannotRunCommand, .boundToken, .noPrivateWindow,
            .noPortal,
            .portalFailed, .noSuchBrowser,
            .noContext,
            .callbackIsError, .reported, .cancelled:
            false
        }
    }

    private static let withoutPortal = "without --portal a browser is opened; --no-open shows the address"

    private static func secretAsArgumentReport(_ option: String) -> Report {
        let advice =
            switch option {
            case "--client-secret": "--client-secret-file FILE, or '-' to be asked"
            case "--refresh-token": "--refresh-token-file FILE, or '-' to be asked"
            default: "--client-secret-file and --refresh-token-file take a file, or '-' to be asked"
            }
        return Report(
            status: .usage,
            message: "'\(option)' would show a secret to every process of this machine",
            hints: [advice, "treat a secret that was typed here as known to others: your shell has kept it too"]
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
            case ENOSPC, EDQUOT, EIO: .tryAgainLater
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
        case ENOSPC, EDQUOT: "free some space there, or name a file on another disk"
        case ENOENT, ENOTDIR: "make its folder first"
        default: nil
        }
    }
}

extension AuthctlError {
    /// The failure as one line for programs, with its newline; empty if everything has been said already.
    var json: String {
        let report = report
        guard !report.message.isEmpty else { return "" }
        let hints = report.hints.filter { !$0.isEmpty }.map { JSONText.quote(PlainText.line($0)) }
        return JSONText.object([
            ("error", JSONText.quote(name)),
            ("exitStatus", String(report.status.rawValue)),
            ("hints", "[\(hints.joined(separator: ","))]"),
            ("message", JSONText.quote(PlainText.line(report.message))),
            ("parameters", parameters.map(StampedJSON.text)),
        ]) + "\n"
    }

    /// The daemon's name of the error, or our own for what it has no part in.
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
        case .cannotStartAgent: "authctl.CannotStartAgent"
        case .cannotStartDaemon: "authctl.CannotStartDaemon"
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

    /// The daemon's own parameters of the error, in JSON; nil if it sent none.
    private var parameters: String? {
        switch self {
        case .refused(let refusal), .nameTaken(let refusal): refusal.shownParameters
        case .keptButNotFresh(_, let cause): cause.parameters
        case .notFresh(let status): JSONText.object([("status", WireText.encode(status))])
        case .secretAsArgument, .unknownCommand, .usage, .secretFile, .unusableDocument, .wrongIssuer,
            .secretsToTerminal,
            .cannotCreateFile, .cannotWriteOutput, .cannotReadBackup, .noJournal, .connection, .signOutFailed,
            .reported,
            .cannotStartAgent, .cannotStartDaemon, .cannotStartSSH, .cannotRunCommand, .boundToken, .noPrivateWindow,
            .noPortal,
            .portalFailed, .noSuchBrowser,
            .noContext,
            .callbackIsError, .cancelled:
            nil
        }
    }
}

extension ConnectionError {
    /// What programs know it by.
    fileprivate var name: String {
        switch self {
        case .unreachable: "authctl.DaemonUnreachable"
        case .notPermitted: "authctl.SocketNotPermitted"
        case .otherUser: "authctl.SocketOfAnotherUser"
        case .pathTooLong: "authctl.SocketPathTooLong"
        case .unusablePath: "authctl.SocketPathUnusable"
        case .ended: "authctl.ConnectionEnded"
        case .endedAndThen(let error): error.name
        case .noAnswer: "authctl.NoAnswer"
        case .unreadableReply: "authctl.UnreadableReply"
        }
    }
}

/// How `authctl` ends; the numbers are those of sysexits where it has one for the cause.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    /// A credential helper has told on standard output why it has no answer.
    case helperFailed = 1
    /// A person must act: the grant has ended, or the authorization server asks for the user.
    case interactionRequired = 3
    case noSuchAccount = 4
    /// The account holds no grant.
    case signedOut = 5
    case usage = 64
    /// Something read from a file, from standard input or from the daemon cannot be used.
    case badData = 65
    case daemonUnreachable = 69
    case tryAgainLater = 75
    case notPermitted = 77
    case misconfigured = 78
    /// The command of `authctl exec` cannot be started, or does not exist; the numbers are those of shells.
    case cannotRunCommand = 126
    case commandNotFound = 127
    /// The user broke off; the shell's number for SIGINT.
    case cancelled = 130

    /// Ranks the outcomes of several accounts: what a person must do comes before what time will heal.
    private var urgency: Int {
        switch self {
        case .success: 0
        case .tryAgainLater: 1
        case .signedOut: 2
        case .noSuchAccount: 3
        case .misconfigured: 4
        case .interactionRequired: 5
        case .notPermitted, .badData, .usage, .cannotRunCommand, .commandNotFound, .helperFailed: 6
        case .daemonUnreachable, .cancelled: 7
        }
    }

    /// The more urgent of two outcomes.
    static func worst(_ first: ExitStatus, _ second: ExitStatus) -> ExitStatus {
        second.urgency > first.urgency ? second : first
    }
}

/// What a failure looks like to the user: one error line, then what to do about it.
struct Report: Hashable, Sendable {
    let status: ExitStatus
    /// Lower case, no full stop. Empty: everything has been said already.
    let message: String
    /// Each is a command or a sentence that helps.
    var hints: [String] = []

    /// The same, after what was done all the same.
    func following(_ done: String) -> Report {
        Report(status: status, message: "\(done), but \(message)", hints: hints)
    }

    /// The same on one line, for programs that show one only.
    var line: String {
        ([message] + hints.filter { !$0.isEmpty }).map { PlainText.line($0) }.joined(separator: "; ")
    }

    /// The lines for standard error, each with its newline.
    var text: String {
        guard !message.isEmpty else { return "" }
        var lines = "authctl: error: \(PlainText.line(message))\n"
        for hint in hints where !hint.isEmpty {
            lines += "authctl: hint: \(PlainText.line(hint))\n"
        }
        return lines
    }
}
