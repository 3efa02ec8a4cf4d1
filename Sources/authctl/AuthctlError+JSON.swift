internal import VarlinkClient

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
            ("parameters", parameters),
        ]) + "\n"
    }

    /// The daemon's name of the error, or our own for what it has no part in.
    var name: String {
        switch self {
        case .secretAsArgument: "authctl.SecretAsArgument"
        case .unknownCommand, .usage: "authctl.Usage"
        case .secretFile: "authctl.UnusableSecret"
        case .unusableDocument: "authctl.UnusableDocument"
        case .secretsToTerminal: "authctl.SecretsToTerminal"
        case .cannotCreateFile: "authctl.CannotCreateFile"
        case .cannotWriteOutput: "authctl.CannotWriteOutput"
        case .cannotReadBackup: "authctl.CannotReadBackup"
        case .connection(let error): error.name
        case .refused(let refusal), .nameTaken(let refusal): refusal.name
        case .notFresh: "authctl.NotFresh"
        case .keptButNotFresh(_, let cause): cause.name
        case .signOutFailed: "authctl.SignOutStepFailed"
        case .reported: ""
        case .cannotStartAgent: "authctl.CannotStartAgent"
        case .cannotStartDaemon: "authctl.CannotStartDaemon"
        case .noPrivateWindow: "authctl.NoPrivateWindow"
        case .cancelled: "authctl.Cancelled"
        }
    }

    /// The daemon's own parameters of the error, in JSON; nil if it sent none.
    private var parameters: String? {
        switch self {
        case .refused(let refusal), .nameTaken(let refusal): refusal.shownParameters
        case .keptButNotFresh(_, let cause): cause.parameters
        case .notFresh(let status): JSONText.object([("status", WireText.encode(status))])
        case .secretAsArgument, .unknownCommand, .usage, .secretFile, .unusableDocument, .secretsToTerminal,
            .cannotCreateFile, .cannotWriteOutput, .cannotReadBackup, .connection, .signOutFailed, .reported,
            .cannotStartAgent, .cannotStartDaemon, .noPrivateWindow,
            .cancelled:
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
