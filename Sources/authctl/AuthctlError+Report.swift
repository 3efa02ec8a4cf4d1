internal import Glibc

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
        case .usage(let message, let hint):
            Report(status: .usage, message: message, hints: hint.map { [$0] } ?? [])
        case .secretFile(let error): error.report
        case .unusableDocument(let message, let hint):
            Report(status: .badData, message: message, hints: hint.map { [$0] } ?? [])
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
        case .noPrivateWindow(let refusal): refusal.report
        case .reported(let status): Report(status: status, message: "")
        case .cancelled: Report(status: .cancelled, message: "cancelled")
        }
    }

    /// Whether this is the daemon's answer about one account; the connection can be used further.
    var isOutcome: Bool {
        switch self {
        case .refused, .nameTaken, .notFresh: true
        case .secretAsArgument, .unknownCommand, .usage, .secretFile, .unusableDocument, .secretsToTerminal,
            .cannotCreateFile, .cannotWriteOutput, .cannotReadBackup, .connection, .keptButNotFresh, .signOutFailed,
            .cannotStartAgent, .cannotStartDaemon, .noPrivateWindow, .reported, .cancelled:
            false
        }
    }

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
            hints: number == EEXIST ? ["an existing file is never replaced: name another"] : []
        )
    }
}
