internal import AuthRefreshInterface
internal import Basics
internal import FoundationEssentials
internal import TextEncodings
internal import Systemd

/// The stream of replies to one call: changes for `Subscribe`, or questions for `ServeConfirmations`.
struct DaemonFeed<Reply: Decodable>: ~Copyable {
    private var connection: VarlinkConnection

    /// Begins a call.
    ///
    /// - Parameter method: a method that is called with "more" and without parameters.
    init(_ method: Method, socket: String) throws(ProgramError) {
        connection = try Self.call(method, at: socket)
    }

    private static func call(_ method: Method, at socket: String) throws(ProgramError) -> VarlinkConnection {
        do throws(VarlinkClientError) {
            var connection = try VarlinkConnection(path: socket)
            try connection.send(method.rawValue, parameters: "{}", mode: .more)
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
    mutating func takeReplies() throws(ProgramError) -> [Reply] {
        var replies: [Reply] = []
        while let reply = try nextReply() {
            if let name = reply.error {
                throw .otherVersion(.unavailable, "the daemon refuses the subscription with the error '\(name)'")
            }
            guard let told = try? JSONDecoder().decode(Reply.self, from: Data(reply.parameters.bytes))
            else {
                throw .otherVersion(.badData, "the daemon's answer is not one that this version understands")
            }
            replies.append(told)
        }
        return replies
    }

    private mutating func nextReply() throws(ProgramError) -> VarlinkConnection.Reply? {
        do throws(VarlinkClientError) {
            return try connection.receiveAvailable()
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
        case .malformedReply: "its reply is not Varlink"
        case .replyTooLarge(let limit): "its reply is longer than \(limit) bytes"
        }
    }
}
