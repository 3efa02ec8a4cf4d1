internal import AuthRefreshInterface
internal import Basics
internal import Systemd

/// The stream of replies to one call: changes for `Subscribe`, or questions for `ServeConfirmations`.
struct DaemonFeed<Call: CallParameters>: ~Copyable {
    private var connection: VarlinkConnection

    init(_ call: Call, socket: String) throws(ProgramError) {
        connection = try Self.send(call, to: socket)
    }

    private static func send(_ call: Call, to socket: String) throws(ProgramError) -> VarlinkConnection {
        do throws(VarlinkClientError) {
            var connection = try VarlinkConnection(path: socket)
            try connection.send(call, mode: .more)
            return connection
        } catch {
            throw .noDaemon(error)
        }
    }

    /// The descriptor to watch with poll(2).
    var descriptor: Int32 { connection.pollDescriptor }

    /// The replies that have arrived.
    ///
    /// - Throws: when the daemon has gone. The next feed begins with the current state.
    mutating func takeReplies() throws(ProgramError) -> [Call.Reply] {
        var replies: [Call.Reply] = []
        while let answer = try nextAnswer() {
            switch answer {
            case .success(let reply): replies.append(reply)
            case .failure(let refusal):
                throw .otherVersion(
                    .unavailable,
                    "the daemon refuses the subscription with the error '\(refusal.name)'"
                )
            }
        }
        return replies
    }

    private mutating func nextAnswer() throws(ProgramError) -> Result<Call.Reply, ErrorReply>? {
        do throws(VarlinkClientError) {
            return try connection.receiveAvailable()?.answer()
        } catch .unreadableReply {
            throw .otherVersion(.badData, "the daemon's answer is not one that this version understands")
        } catch {
            throw .noDaemon(error)
        }
    }
}

extension ProgramError {
    static func noBus(_ error: SystemdError) -> ProgramError {
        ProgramError(
            .unavailable,
            "the session bus does not answer: \(error)",
            hint:
                "start it in a desktop session: \(Command(program: "systemctl", "--user", "start", "authrefresh-agent"))"
        )
    }

    static func noDaemon(_ error: VarlinkClientError) -> ProgramError {
        ProgramError(
            .unavailable,
            "the daemon does not answer: \(reason(for: error))",
            hint: Hint(Command(program: "systemctl", "--user", "status", "authrefreshd"))
        )
    }

    fileprivate static func otherVersion(_ status: ExitStatus, _ message: String) -> ProgramError {
        ProgramError(
            status,
            message,
            hint: "the programs may be of different versions:"
                + " \(Command(program: "systemctl", "--user", "restart", "authrefreshd", "authrefresh-agent"))"
        )
    }

    private static func reason(for error: VarlinkClientError) -> String {
        switch error {
        case .notRunning(let path, let number), .cannotConnect(let path, let number):
            "cannot connect to '\(path)': \(systemText(number))"
        case .permissionDenied(let path): "this user may not open the socket '\(path)'"
        case .unusablePath(let path): "'\(path)' is not the path of a socket"
        case .otherUser(let path, let uid): "the socket '\(path)' belongs to another user (uid \(uid))"
        case .pathTooLong(let path, let limit):
            "the path '\(path)' is longer than the \(limit) bytes of a socket's path"
        case .timedOut: "no reply came in time"
        case .connectionClosed: "it closed the connection"
        case .malformedReply, .unreadableReply: "its reply is not Varlink"
        case .replyTooLarge(let limit): "its reply is longer than \(limit) bytes"
        }
    }
}
