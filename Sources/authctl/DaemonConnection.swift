internal import AuthRefreshInterface
internal import Basics
internal import Glibc
internal import TextEncodings

/// A connection to the daemon that uses the interface's wire types.
struct DaemonConnection: ~Copyable {
    /// The time limit in seconds for a connection, and for an answer that needs no authorization server. It is generous
    /// because the first call may start the daemon.
    static let patience: Int32 = 30
    /// The time limit in seconds for an answer after a refresh. It is above the daemon's own limit of 40, because the
    /// daemon's error says more than ours.
    static let refreshPatience: Int32 = 60

    /// After how many seconds a person at a terminal is told what the command waits for.
    static let quiet: Int32 = 2

    private var connection: VarlinkConnection
    private let path: String

    /// Connects to the daemon.
    ///
    /// - Parameter socket: the value of `--socket`, if given.
    init(socket: String?) throws(Report) {
        let path = try SocketPath.resolve(option: socket)
        connection = try Self.connection(to: path, Self.patience)
        self.path = path
    }

    private static func connection(to path: String, _ patience: Int32) throws(Report) -> VarlinkConnection {
        do throws(VarlinkClientError) {
            return try VarlinkConnection(path: path, timeoutMilliseconds: patience * 1000)
        } catch {
            throw Report(error, patience: patience)
        }
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameter awaited: what the call waits for; a person at a terminal is told after two seconds.
    /// - Throws: the daemon's error; connection errors.
    mutating func ask<Call: CallParameters>(
        _ call: Call,
        patience: Int32 = Self.patience,
        waitingFor awaited: String = "the daemon"
    ) throws(Report) -> Call.Reply {
        try ask(call, patience, .named(awaited))
    }

    /// Calls a method for which the daemon refreshes `account`.
    mutating func ask<Call: CallParameters>(_ call: Call, refreshing account: String) throws(Report) -> Call.Reply {
        try ask(call, Self.refreshPatience, .server(ofAccount: account))
    }

    private mutating func ask<Call: CallParameters>(
        _ call: Call,
        _ patience: Int32,
        _ awaited: Awaited
    ) throws(Report) -> Call.Reply {
        try Self.content(
            of: reply(to: Call.method, json: WireText.encode(call), patience: patience, waitingFor: awaited)
        )
    }

    /// What a call waits for, to tell a person at a terminal. It is a value and not a closure, and becomes text only
    /// when it is shown.
    enum Awaited {
        /// The named thing, for at most the call's time limit.
        case named(String)
        /// The authorization server of this account, for which the daemon waits 40 s.
        case server(ofAccount: String)
    }

    /// Tells a person at a terminal what the command waits for. Nobody reads that from a pipe.
    static func tell(of awaited: Awaited, _ patience: Int32) {
        guard StandardError.isTerminal else { return }
        switch awaited {
        case .named(let name): StandardError.noteWait(for: name, atMost: patience)
        case .server(let account): StandardError.noteWait(for: server(of: account), atMost: 40)
        }
    }

    /// The text for the most frequent wait.
    static func server(of account: String) -> String {
        "the authorization server of '\(account)'"
    }

    /// Calls a method with parameters as JSON. It needs neither Codable nor Foundation.
    ///
    /// A daemon that restarts, or that its watchdog ends, hangs up. If the method is repeatable, the next daemons are
    /// called until one answers, `endingsMax` have ended, or the time is over.
    ///
    /// - Parameter awaited: what a person at a terminal is told if the answer takes more than two seconds; nil for
    ///   nothing.
    mutating func ask(
        _ method: Method,
        json: String,
        patience: Int32,
        waitingFor awaited: Awaited? = nil
    ) throws(Report) -> JSONValue {
        let reply = try reply(to: method, json: json, patience: patience, waitingFor: awaited)
        if let refusal = reply.refusal { throw refusal.report }
        return reply.parameters
    }

    private mutating func reply(
        to method: Method,
        json: String,
        patience: Int32,
        waitingFor awaited: Awaited?
    ) throws(Report) -> VarlinkConnection.Reply {
        let start = Self.clock
        do throws(Report) {
            return try call(method, json, patience, waitingFor: awaited)
        } catch  where error.cause == .ended && method.rules.isRepeatable {
            return try askSuccessors(method, json, until: start + patience)
        }
    }

    /// Calls the daemons after one that has ended. Where systemd holds the socket, the call waits in it for the next
    /// daemon. Elsewhere there is no socket for a moment. On a slow machine a daemon may end again before it answers.
    ///
    /// - Parameter end: when the time is over, by `clock`.
    private mutating func askSuccessors(
        _ method: Method,
        _ json: String,
        until end: Int32
    ) throws(Report) -> VarlinkConnection.Reply {
        let tellsAt = Self.clock + Self.quiet
        var pause = Self.shortestPause
        var isTold = false
        var endings = 1
        while true {
            let left = max(end - Self.clock, 1)
            do throws(Report) {
                connection = try Self.connection(to: path, left)
                return try call(method, json, left)
            } catch {
                if error.cause == .ended { endings += 1 }
                guard [.unreachable, .ended].contains(error.cause), endings < Self.endingsMax,
                    Self.clock + pause / 1000 < end
                else {
                    throw error.following("the daemon ended the connection; authctl asked again")
                }
            }
            if !isTold, Self.clock >= tellsAt {
                Self.tell(of: .named("the daemon"), left)
                isTold = true
            }
            poll(nil, 0, pause)
            pause = min(2 * pause, Self.longestPause)
        }
    }

    /// How many daemons in a row may end without an answer. A daemon that cannot start does so each time. systemd closes the
    /// socket to everybody after five starts (`StartLimitBurst=` of the unit).
    private static let endingsMax = 3

    /// How many milliseconds pass before the next daemon is called again. Each pause is twice as long as the one before,
    /// so that a call that ends daemons ends few of them.
    private static let shortestPause: Int32 = 50
    private static let longestPause: Int32 = 2_000

    private mutating func call(
        _ method: Method,
        _ json: String,
        _ patience: Int32,
        waitingFor awaited: Awaited? = nil
    ) throws(Report) -> VarlinkConnection.Reply {
        do throws(VarlinkClientError) {
            if let awaited, patience > Self.quiet {
                try connection.send(
                    method.rawValue,
                    parameters: json,
                    mode: .one,
                    timeoutMilliseconds: patience * 1000
                )
                return try receive(patience, waitingFor: awaited)
            }
            return try connection.call(method.rawValue, parameters: json, timeoutMilliseconds: patience * 1000)
        } catch {
            throw Report(error, patience: patience)
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

    /// Seconds of a clock that cannot be stepped.
    private static var clock: Int32 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int32(clamping: time.tv_sec)
    }

    /// Calls a method that reports progress, and passes each reply to `body`. The last one ends the call.
    ///
    /// - Parameter awaited: what the wait is for. A person at a terminal is told after two seconds without a reply.
    /// - Throws: the daemon's error; connection errors; `noAnswer` after a silence; what `body` throws.
    mutating func ask<Call: CallParameters>(
        _ call: Call,
        waitingFor awaited: String = "the daemon",
        forEach body: (Call.Reply) throws(Report) -> Void
    ) throws(Report) {
        let patience = Self.refreshPatience
        var continues = true
        try follow(call)
        while continues {
            let reply: VarlinkConnection.Reply
            do throws(VarlinkClientError) {
                reply = try receive(patience, waitingFor: .named(awaited))
            } catch {
                throw Report(error, patience: patience)
            }
            try body(Self.content(of: reply))
            continues = reply.continues
        }
    }

    /// The content of a reply that is not an error.
    private static func content<Content: Decodable>(of reply: VarlinkConnection.Reply) throws(Report) -> Content {
        let answer: Result<Content, ErrorReply>
        do throws(VarlinkClientError) { answer = try reply.answer() } catch { throw Report(error, patience: 0) }
        switch answer {
        case .success(let content): return content
        case .failure(let refusal): throw refusal.report
        }
    }
}

extension DaemonConnection {
    /// The states of accounts, from all pages.
    ///
    /// - Parameter accounts: empty for all.
    mutating func allStatuses(accounts: [String]) throws(Report) -> [AccountStatus] {
        var statuses: [AccountStatus] = []
        var page = GetStatus.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        repeat {
            let reply = try ask(page)
            statuses += reply.accounts
            page.after = reply.next
        } while page.after != nil
        return statuses
    }

    /// The settings of accounts, from all pages; accounts that cannot be read are listed separately.
    ///
    /// - Parameter accounts: empty for all.
    mutating func allSettings(accounts: [String]) throws(Report) -> ListAccounts.Reply {
        var all = ListAccounts.Reply(accounts: [])
        var page = ListAccounts.Parameters(accounts: accounts.isEmpty ? nil : accounts)
        repeat {
            let reply = try ask(page)
            all.accounts += reply.accounts
            if let damaged = reply.damaged { all.damaged = (all.damaged ?? []) + damaged }
            if let people = reply.people { all.people = (all.people ?? [:]).merging(people) { $1 } }
            page.after = reply.next
        } while page.after != nil
        return all
    }
}

extension DaemonConnection {
    /// The settings of an account; nil if there is none of this name, or if they cannot be read.
    mutating func settings(of name: String) throws(Report) -> AccountSettings? {
        do throws(Report) {
            return try allSettings(accounts: [name]).accounts.first
        } catch {
            guard error.isNoSuchAccount else { throw error }
            return nil
        }
    }
}

extension DaemonConnection {
    /// Calls `Subscribe`; `availableChange` returns its replies.
    ///
    /// - Parameter accounts: empty for all.
    mutating func subscribe(to accounts: [String]) throws(Report) {
        try follow(Subscribe.Parameters(accounts: accounts.isEmpty ? nil : accounts))
    }

    /// Tells a person at a terminal what is waited for, if the first reply has not begun to come within two seconds.
    func tellIfSilent() {
        guard StandardError.isTerminal else { return }
        var interest = pollfd(fd: pollDescriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&interest, 1, Self.quiet * 1000) == 0 else { return }
        StandardError.note("waiting for the daemon; Ctrl-C ends")
    }

    /// The next change that has already arrived; nil if there is none.
    mutating func availableChange() throws(Report) -> Subscribe.Reply? {
        guard let (change, continues) = try availableReply(Subscribe.Reply.self) else { return nil }
        guard continues else { throw .ended }
        return change
    }
}

extension DaemonConnection {
    /// The descriptor to watch with poll(2) for replies that `availableReply` returns.
    var pollDescriptor: Int32 { connection.pollDescriptor }

    /// Calls a method that reports events as they happen; `availableReply` and `nextReply` return its replies.
    mutating func follow(_ call: some CallParameters) throws(Report) {
        try send(call, mode: .more)
    }

    /// Calls a method with one reply, which `availableReply` or `nextReply` returns.
    mutating func begin(_ call: some CallParameters) throws(Report) {
        try send(call, mode: .one)
    }

    private mutating func send(_ call: some CallParameters, mode: VarlinkConnection.ReplyMode) throws(Report) {
        do throws(VarlinkClientError) {
            try connection.send(call, mode: mode, timeoutMilliseconds: Self.patience * 1000)
        } catch {
            throw Report(error, patience: Self.patience)
        }
    }

    /// The next reply that has already arrived, and whether more follow; nil if there is none.
    ///
    /// - Throws: the daemon's error; connection errors.
    mutating func availableReply<Reply: Decodable>(
        _ type: Reply.Type
    ) throws(Report) -> (reply: Reply, continues: Bool)? {
        let reply: VarlinkConnection.Reply?
        do throws(VarlinkClientError) {
            reply = try connection.receiveAvailable()
        } catch {
            throw Report(error, patience: 0)
        }
        guard let reply else { return nil }
        return (try Self.content(of: reply), reply.continues)
    }

    /// Waits for the next reply.
    ///
    /// - Parameter patience: the time limit in seconds.
    mutating func nextReply<Reply: Decodable>(
        _ type: Reply.Type,
        patience: Int32
    ) throws(Report) -> (reply: Reply, continues: Bool) {
        let reply: VarlinkConnection.Reply
        do throws(VarlinkClientError) {
            reply = try connection.receive(timeoutMilliseconds: patience * 1000)
        } catch {
            throw Report(error, patience: patience)
        }
        return (try Self.content(of: reply), reply.continues)
    }
}

extension SocketPath {
    /// The first that is set: `--socket`, `AUTHREFRESH_SOCKET`, the user's runtime directory.
    ///
    /// - Throws: `usage` if the option is not a path.
    static func resolve(option: String?) throws(Report) -> String {
        guard let option else { return usual }
        guard !option.isEmpty, !option.utf8.contains(0) else {
            throw .usage("'--socket' needs a path", hint: "see '\(Command("--help"))'")
        }
        return option
    }
}
