internal import CommandLineProgram

/// Why a call got no answer. An error reply counts as an answer.
enum ConnectionError: Error, Hashable, Sendable {
    /// Nobody answers at the socket.
    case unreachable(socket: String, errno: Int32)
    case notPermitted(socket: String)
    /// Another user listens there.
    case otherUser(socket: String, uid: UInt32)
    case pathTooLong(socket: String)
    /// The path is empty or contains a NUL.
    case unusablePath(socket: String)
    /// The daemon went away before its answer was complete.
    case ended
    /// The daemon went away, and calling the next ones failed, too.
    indirect case endedAndThen(ConnectionError)
    /// The daemon accepted the call and was silent for `seconds`.
    case noAnswer(seconds: Int32)
    /// The answer does not follow the interface.
    case unreadableReply
}

extension ConnectionError {
    /// The exit status and the lines for the user.
    var report: Report {
        switch self {
        case .unreachable(let socket, let number):
            Report(
                status: .daemonUnreachable,
                message: "no daemon answers at '\(socket)': \(systemText(number))",
                hints: ["systemctl --user start authrefreshd", "not installed yet: run systemd/install"]
            )
        case .notPermitted(let socket):
            Report(
                status: .notPermitted,
                message: "you are not allowed to open the socket '\(socket)'",
                hints: ["the daemon serves the user who runs it; check --socket and AUTHREFRESH_SOCKET"]
            )
        case .otherUser(let socket, let uid):
            Report(
                status: .notPermitted,
                message: "the socket '\(socket)' belongs to another user (uid \(uid))",
                hints: ["authctl sent nothing to it; check --socket and AUTHREFRESH_SOCKET"]
            )
        case .unusablePath(let socket):
            Report(
                status: .usage,
                message: "the path of the socket cannot be used: '\(socket)'",
                hints: ["check --socket and AUTHREFRESH_SOCKET"]
            )
        case .pathTooLong(let socket):
            Report(
                status: .usage,
                message: "the path of the socket is too long: '\(socket)'",
                hints: ["a path of at most 107 bytes works; check --socket and AUTHREFRESH_SOCKET"]
            )
        case .ended:
            Report(
                status: .daemonUnreachable,
                message: "the daemon ended the connection",
                hints: ["systemctl --user status authrefreshd"]
            )
        case .endedAndThen(let error):
            error.report.following("the daemon ended the connection; authctl asked again")
        case .noAnswer(let seconds):
            Report(
                status: .tryAgainLater,
                message: "the daemon has not answered within \(seconds) s",
                hints: ["systemctl --user status authrefreshd"]
            )
        case .unreadableReply:
            Report(
                status: .badData,
                message: "the daemon's answer cannot be understood",
                hints: ["the versions of authctl and authrefreshd may differ: systemctl --user restart authrefreshd"]
            )
        }
    }
}

extension ConnectionError {
    /// The error's name for programs.
    var name: String {
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
