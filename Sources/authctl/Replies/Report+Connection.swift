internal import Basics
internal import AuthRefreshInterface

/// Why a call got no answer. An error reply counts as an answer.
extension Report {
    /// Converts a failed call.
    ///
    /// - Parameter patience: how many seconds the call has waited.
    init(_ error: VarlinkClientError, patience: Int32) {
        self =
            switch error {
            case .notRunning(let path, let errno), .cannotConnect(let path, let errno):
                Report(
                    status: .unavailable,
                    name: "authctl.DaemonUnreachable",
                    message: "no daemon answers at '\(path)': \(systemText(errno))",
                    hints: Surroundings.real.socketHints(for: path),
                    cause: .unreachable
                )
            case .permissionDenied(let path):
                Report(
                    status: .notPermitted,
                    name: "authctl.SocketNotPermitted",
                    message: "you are not allowed to open the socket '\(path)'",
                    hints: [Self.hint(for: path) ?? "the daemon serves the user who runs it; \(Self.checkOptions)"]
                )
            case .otherUser(let path, let uid):
                Report(
                    status: .notPermitted,
                    name: "authctl.SocketOfAnotherUser",
                    message: "the socket '\(path)' belongs to another user (uid \(uid))",
                    hints: [Self.hint(for: path) ?? "authctl sent nothing to it; \(Self.checkOptions)"]
                )
            case .pathTooLong(let path, limit: _):
                Report(
                    status: .usage,
                    name: "authctl.SocketPathTooLong",
                    message: "the path of the socket is too long: '\(path)'",
                    hints: ["a path of at most 107 bytes works; check --socket and AUTHREFRESH_SOCKET"]
                )
            case .unusablePath(let path):
                Report(
                    status: .usage,
                    name: "authctl.SocketPathUnusable",
                    message: "the path of the socket cannot be used: '\(path)'",
                    hints: ["check --socket and AUTHREFRESH_SOCKET"]
                )
            case .timedOut: .noAnswer(seconds: patience)
            case .connectionClosed: .ended
            case .malformedReply, .unreadableReply, .replyTooLarge: .unreadableReply
            }
    }

    private static let checkOptions: Hint = "check --socket and AUTHREFRESH_SOCKET"

    /// What to do if `XDG_RUNTIME_DIR` led to another user's socket; nil if something else did.
    private static func hint(for path: String) -> Hint? {
        let folder = Surroundings.real.environment("XDG_RUNTIME_DIR")
        guard let folder, path == SocketPath.inside(folder) else { return nil }
        return Surroundings.real.foreignRuntimeFolder
    }

    /// The daemon went away before its answer was complete.
    static let ended = Report(
        status: .unavailable,
        name: "authctl.ConnectionEnded",
        message: "the daemon ended the connection",
        hints: ["\(Command(program: "systemctl", "--user", "status", "authrefreshd"))"],
        cause: .ended
    )

    /// The daemon accepted the call and was silent for `seconds`.
    static func noAnswer(seconds: Int32) -> Report {
        Report(
            status: .tryAgainLater,
            name: "authctl.NoAnswer",
            message: "the daemon has not answered within \(seconds) s",
            hints: ["\(Command(program: "systemctl", "--user", "status", "authrefreshd"))"]
        )
    }

    /// The answer does not follow the interface.
    static let unreadableReply = Report(
        status: .badData,
        name: "authctl.UnreadableReply",
        message: "the daemon's answer cannot be understood",
        hints: [ErrorReply.versionsDiffer]
    )
}
