internal import AuthRefreshInterface
internal import FoundationEssentials
internal import Glibc
internal import StrictJSON
internal import VarlinkClient

/// A connection to the daemon that speaks in the interface's wire types.
struct DaemonConnection: ~Copyable {
    /// Seconds for an answer that needs no authorization server. Generous: the first call may start the daemon.
    static let patience: Int32 = 30
    /// Seconds for an answer that waits for a refresh. Above the daemon's own limit of 40, whose error says more than ours.
    static let refreshPatience: Int32 = 60

    /// Seconds after which a person at a terminal is told what is waited for.
    private static let quiet: Int32 = 2

    /// For the methods of this type only.
    var connection: VarlinkConnection
    private let path: String

    /// - Parameter socket: the value of `--socket`, if given.
    init(socket: String?) throws(AuthctlError) {
        let path = try SocketPath.resolve(option: socket)
        do throws(VarlinkClientError) {
            connection = try VarlinkConnection(path: path)
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
        self.path = path
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameter awaited: what a person at a terminal is told that the wait is for, after two seconds.
    /// - Throws: `refused` with the daemon's error; anything about the connection.
    mutating func ask<Reply: Decodable>(
        _ method: Method,
        _ parameters: some Encodable,
        for type: Reply.Type,
        patience: Int32 = Self.patience,
        waitingFor awaited: String = "the daemon"
    ) throws(AuthctlError) -> Reply {
        let answer = try ask(method, json: WireText.encode(parameters), patience: patience, waitingFor: .named(awaited))
        return try WireText.decode(type, from: answer)
    }

    /// What a person at a terminal is told that a call waits for. A value and no closure: it becomes a text only when it is told.
    enum Awaited {
        /// What is waited for, for as long as the call's patience.
        case named(String)
        /// The authorization server of this account, which the daemon waits 40 s for.
        case server(ofAccount: String)
    }

    /// Says what keeps a person at a terminal waiting; nobody watches a pipe.
    private static func tell(of awaited: Awaited, _ patience: Int32) {
        guard StandardError.isTerminal else { return }
        switch awaited {
        case .named(let name): StandardError.note("waiting for \(name), \(patience) s at most")
        case .server(let account): StandardError.note("waiting for \(server(of: account)), 40 s at most")
        }
    }

    /// What keeps people waiting most often, in words.
    static func server(of account: String) -> String {
        "the authorization server of '\(account)'"
    }

    /// Calls a method with parameters in JSON; needs neither Codable nor Foundation.
    ///
    /// A daemon that is being restarted hangs up on the calls that it cannot serve any more. It accepts no others by then: the
    /// next one waits in the socket for its successor, which is asked, once, if no harm can come of asking twice.
    ///
    /// - Parameter awaited: what a person at a terminal is told when the answer has not come within two seconds; nil says nothing.
    mutating func ask(
        _ method: Method,
        json: String,
        patience: Int32,
        waitingFor awaited: Awaited? = nil
    ) throws(AuthctlError) -> JSONText {
        let start = Self.clock
        let reply: VarlinkConnection.Reply
        do throws(ConnectionError) {
            reply = try call(method, json, patience, waitingFor: awaited)
        } catch .ended where Self.harmless.contains(method) {
            reply = try askSuccessor(method, json, patience - (Self.clock - start))
        } catch {
            throw .connection(error)
        }
        return try Self.parameters(of: reply)
    }

    private mutating func askSuccessor(
        _ method: Method,
        _ json: String,
        _ patience: Int32
    ) throws(AuthctlError) -> VarlinkConnection.Reply {
        do throws(ConnectionError) {
            do throws(VarlinkClientError) {
                connection = try VarlinkConnection(path: path)
            } catch {
                throw ConnectionError(error, patience: 0)
            }
            return try call(method, json, max(patience, 1))
        } catch {
            throw .connection(.endedAndThen(error))
        }
    }

    private mutating func call(
        _ method: Method,
        _ json: String,
        _ patience: Int32,
        waitingFor awaited: Awaited? = nil
    ) throws(ConnectionError) -> VarlinkConnection.Reply {
        do throws(VarlinkClientError) {
            if let awaited, patience > Self.quiet {
                try connection.send(method.rawValue, parameters: json, mode: .one)
                return try receive(patience, waitingFor: awaited)
            }
            return try connection.call(method.rawValue, parameters: json, timeoutMilliseconds: patience * 1000)
        } catch {
            throw ConnectionError(error, patience: patience)
        }
    }

    /// Waits for a reply. After two seconds a person at a terminal is told what for.
    private mutating func receive(
        _ patience: Int32,
        waitingFor awaited: Awaited
    ) throws(VarlinkClientError) -> VarlinkConnection.Reply {
        do throws(VarlinkClientError) {
            return try connection.receive(timeoutMilliseconds: Self.quiet * 1000)
        } catch .timedOut {
            Self.tell(of: awaited, patience)
            return try connection.receive(timeoutMilliseconds: (patience - Self.quiet) * 1000)
        }
    }

    /// What may be asked twice.
    private static var harmless: [Method] {
        [.acquireToken, .refresh, .getInfo, .getStatus, .listAccounts, .listProviders, .checkServer]
    }

    /// Seconds of a clock that nobody steps.
    private static var clock: Int32 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int32(clamping: time.tv_sec)
    }

    /// Calls a method that tells how it gets on, and hands over each reply; the last one ends the call.
    ///
    /// - Parameter awaited: what a person at a terminal is told that the wait is for, after two seconds without a reply.
    /// - Throws: `refused` with the daemon's error; anything about the connection; `noAnswer` after a silence; what `body` throws.
    mutating func ask<Reply: Decodable>(
        _ method: Method,
        _ parameters: some Encodable,
        forEach type: Reply.Type,
        waitingFor awaited: String = "the daemon",
        _ body: (Reply) throws(AuthctlError) -> Void
    ) throws(AuthctlError) {
        let patience = Self.refreshPatience
        var continues = true
        do throws(VarlinkClientError) {
            try connection.send(method.rawValue, parameters: WireText.encode(parameters), mode: .more)
        } catch {
            throw .connection(ConnectionError(error, patience: patience))
        }
        while continues {
            let reply: VarlinkConnection.Reply
            do throws(VarlinkClientError) {
                reply = try receive(patience, waitingFor: .named(awaited))
            } catch {
                throw .connection(ConnectionError(error, patience: patience))
            }
            try body(WireText.decode(type, from: Self.parameters(of: reply)))
            continues = reply.continues
        }
    }

    /// The parameters of a reply that is no error.
    static func parameters(of reply: VarlinkConnection.Reply) throws(AuthctlError) -> JSONText {
        if let name = reply.error {
            throw .refused(Refusal(name: name, parameters: reply.parameters.text))
        }
        return reply.parameters
    }
}

extension ConnectionError {
    /// What a failed call means to the user.
    ///
    /// - Parameter patience: how many seconds were waited.
    init(_ error: VarlinkClientError, patience: Int32) {
        self =
            switch error {
            case .notRunning(let path, let errno), .cannotConnect(let path, let errno):
                .unreachable(socket: path, errno: errno)
            case .permissionDenied(let path): .notPermitted(socket: path)
            case .otherUser(let path, let uid): .otherUser(socket: path, uid: uid)
            case .pathTooLong(let path, limit: _): .pathTooLong(socket: path)
            case .unusablePath(let path): .unusablePath(socket: path)
            case .timedOut: .noAnswer(seconds: patience)
            case .connectionClosed: .ended
            case .malformedReply, .replyTooLarge: .unreadableReply
            }
    }
}

/// Why a question got no answer. An error reply is an answer.
enum ConnectionError: Error, Hashable, Sendable {
    /// Nothing answers at the socket.
    case unreachable(socket: String, errno: Int32)
    case notPermitted(socket: String)
    /// Somebody else listens there.
    case otherUser(socket: String, uid: UInt32)
    case pathTooLong(socket: String)
    /// Empty, or with a NUL in it.
    case unusablePath(socket: String)
    /// The daemon went away before its answer was complete.
    case ended
    /// The same, and what came of asking once more.
    indirect case endedAndThen(ConnectionError)
    /// The daemon took the call and said nothing for `seconds`.
    case noAnswer(seconds: Int32)
    /// The answer is not what the interface says.
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
                message: "the socket '\(socket)' is not open to this user",
                hints: ["the daemon serves the user who runs it; check --socket and AUTHREFRESH_SOCKET"]
            )
        case .otherUser(let socket, let uid):
            Report(
                status: .notPermitted,
                message: "the socket '\(socket)' belongs to another user (uid \(uid))",
                hints: ["nothing was asked there; check --socket and AUTHREFRESH_SOCKET"]
            )
        case .unusablePath(let socket):
            Report(status: .usage, message: "this is no path of a socket: '\(socket)'")
        case .pathTooLong(let socket):
            Report(status: .usage, message: "the path of the socket is too long: '\(socket)'")
        case .ended:
            Report(
                status: .daemonUnreachable,
                message: "the daemon ended the connection",
                hints: ["systemctl --user status authrefreshd"]
            )
        case .endedAndThen(let error):
            error.report.following("the daemon ended the connection; it was asked once more")
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
                hints: ["authctl and authrefreshd may be of different versions: systemctl --user restart authrefreshd"]
            )
        }
    }
}

/// Where the daemon listens.
enum SocketPath {
    /// The first that is given: `--socket`, `AUTHREFRESH_SOCKET`, the runtime directory of the user.
    ///
    /// - Throws: `usage` if the option is no path.
    static func resolve(option: String?) throws(AuthctlError) -> String {
        if let option {
            guard !option.isEmpty, !option.utf8.contains(0) else {
                throw .usage(.socketWithoutPath)
            }
            return option
        }
        if let path = environment("AUTHREFRESH_SOCKET") { return path }
        // Without a login session the variable is missing, but a lingering user manager has made the folder.
        let runtime = environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        return "\(runtime)/authrefreshd/io.authrefresh"
    }

    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}

extension DaemonConnection {
    /// Where accounts stand, all pages of them.
    ///
    /// - Parameter accounts: empty means all.
    mutating func allStatuses(accounts: [String]) throws(AuthctlError) -> [AccountStatus] {
        var statuses: [AccountStatus] = []
        var page = GetStatus.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        repeat {
            let reply = try ask(.getStatus, page, for: GetStatus.Reply.self)
            statuses += reply.accounts
            page.after = reply.next
        } while page.after != nil
        return statuses
    }

    /// How accounts are set up, all pages of them; those that the store cannot read stand apart.
    ///
    /// - Parameter accounts: empty means all.
    mutating func allSettings(accounts: [String]) throws(AuthctlError) -> ListAccounts.Reply {
        var all = ListAccounts.Reply(accounts: [])
        var page = ListAccounts.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        repeat {
            let reply = try ask(.listAccounts, page, for: ListAccounts.Reply.self)
            all.accounts += reply.accounts
            if let damaged = reply.damaged { all.damaged = (all.damaged ?? []) + damaged }
            if let people = reply.people { all.people = (all.people ?? [:]).merging(people) { $1 } }
            page.after = reply.next
        } while page.after != nil
        return all
    }
}

extension DaemonConnection {
    /// Calls `Subscribe`; its replies are fetched by `nextChange` and `availableChange`.
    ///
    /// - Parameter accounts: empty means all.
    mutating func subscribe(to accounts: [String]) throws(AuthctlError) {
        try follow(.subscribe, Subscribe.Parameters(accounts: accounts.isEmpty ? nil : accounts))
    }

    /// Tells a person at a terminal what is waited for, if the first reply has not begun to come within two seconds.
    func tellIfSilent() {
        guard StandardError.isTerminal else { return }
        var interest = pollfd(fd: pollDescriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&interest, 1, Self.quiet * 1000) == 0 else { return }
        StandardError.note("waiting for the daemon; Ctrl-C ends")
    }

    /// Waits for the next change, for ever: the daemon never ends the answer by itself.
    mutating func nextChange() throws(AuthctlError) -> Subscribe.Reply {
        let (change, continues) = try nextReply(Subscribe.Reply.self)
        guard continues else { throw .connection(.ended) }
        return change
    }

    /// The next change that has come already; nil if there is none.
    mutating func availableChange() throws(AuthctlError) -> Subscribe.Reply? {
        guard let (change, continues) = try availableReply(Subscribe.Reply.self) else { return nil }
        guard continues else { throw .connection(.ended) }
        return change
    }
}

extension DaemonConnection {
    /// What poll(2) is to watch for replies that `availableReply` takes.
    var pollDescriptor: Int32 { connection.pollDescriptor }

    /// Calls a method that tells what happens as it happens; its replies are fetched by `availableReply` and `nextReply`.
    mutating func follow(_ method: Method, _ parameters: some Encodable) throws(AuthctlError) {
        try send(method, parameters, mode: .more)
    }

    /// Calls a method for one reply, which is fetched by `availableReply` or `nextReply`.
    mutating func begin(_ method: Method, _ parameters: some Encodable) throws(AuthctlError) {
        try send(method, parameters, mode: .one)
    }

    private mutating func send(
        _ method: Method,
        _ parameters: some Encodable,
        mode: VarlinkConnection.ReplyMode
    ) throws(AuthctlError) {
        do throws(VarlinkClientError) {
            try connection.send(method.rawValue, parameters: WireText.encode(parameters), mode: mode)
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
    }

    /// The next reply that has come already, and whether others follow it; nil if there is none.
    ///
    /// - Throws: `refused` with the daemon's error; anything about the connection.
    mutating func availableReply<Reply: Decodable>(
        _ type: Reply.Type
    ) throws(AuthctlError) -> (reply: Reply, continues: Bool)? {
        let reply: VarlinkConnection.Reply?
        do throws(VarlinkClientError) {
            reply = try connection.receiveAvailable()
        } catch {
            throw .connection(ConnectionError(error, patience: 0))
        }
        guard let reply else { return nil }
        return (try WireText.decode(type, from: Self.parameters(of: reply)), reply.continues)
    }

    /// Waits for the next reply.
    ///
    /// - Parameter patience: seconds; nil: as long as the connection stands.
    mutating func nextReply<Reply: Decodable>(
        _ type: Reply.Type,
        patience: Int32? = nil
    ) throws(AuthctlError) -> (reply: Reply, continues: Bool) {
        let reply: VarlinkConnection.Reply
        do throws(VarlinkClientError) {
            reply = try connection.receive(timeoutMilliseconds: patience.map { $0 * 1000 })
        } catch {
            throw .connection(ConnectionError(error, patience: patience ?? 0))
        }
        return (try WireText.decode(type, from: Self.parameters(of: reply)), reply.continues)
    }
}
