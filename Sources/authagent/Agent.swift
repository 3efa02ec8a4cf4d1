internal import AuthRefreshInterface
internal import Glibc
internal import Systemd
internal import VarlinkClient

/// Tells the person in front of the screen which accounts need them, and signs them in when they click.
///
/// One thread that waits in poll(2) for the daemon, the bus and the sign-ins that it has started; between two events it does nothing.
struct Agent: ~Copyable {
    private let socket: String
    /// What `authctl login` is given; nil: it finds the daemon itself.
    private let namedSocket: String?
    private let authctl: String
    private let server: NotificationServer
    /// Nil while the daemon does not answer.
    private var feed: AccountFeed?
    private var reconnection = Reconnection()
    private var desk = NotificationDesk()
    private var signIns: [SignInProgram] = []
    /// Nil: not asked yet, or the server has changed.
    private var showsActions: Bool?

    /// - Parameters:
    ///   - namedSocket: the value of `--socket`.
    ///   - authctl: the path of the program that signs in.
    /// - Throws: `noBus`; the daemon is waited for.
    init(namedSocket: String?, authctl: String) throws(AgentError) {
        let runtime = Self.environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        let socket =
            namedSocket ?? Self.environment("AUTHREFRESH_SOCKET") ?? "\(runtime)/authrefreshd/io.authrefresh"
        let server = try Self.connect(Self.sessionBus)
        self.server = server
        self.socket = socket
        self.namedSocket = namedSocket
        self.authctl = authctl
    }

    private static func connect(_ address: String) throws(AgentError) -> NotificationServer {
        do throws(SystemdError) {
            return try NotificationServer(address: address)
        } catch {
            throw .noBus(error)
        }
    }

    /// Runs until the bus is gone.
    mutating func run() throws(AgentError) -> Never {
        while true {
            takeChanges()
            try takeEvents()
            perform(desk.takeEffects())
            wait()
            takeEndedSignIns()
        }
    }

    // MARK: What comes in

    private mutating func takeChanges() {
        do throws(AgentError) {
            if feed == nil {
                guard reconnection.isDue(at: .now) else { return }
                feed = try AccountFeed(socket: socket)
                desk.beginPresentState()
            }
            let changes = try feed?.takeChanges() ?? []
            for change in changes { desk.apply(change) }
            // A connection alone says nothing: systemd's socket takes it for a daemon that cannot start.
            if !changes.isEmpty { reconnection.noteAnswer() }
        } catch {
            feed = nil
            if reconnection.noteFailure(at: .now) { say("\(error.message); it is asked again, ever more seldom") }
        }
    }

    private func say(_ message: String) {
        let line = Array("authagent: \(message)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }

    private mutating func takeEvents() throws(AgentError) {
        let events: [NotificationEvent]
        do throws(SystemdError) { events = try server.takeEvents() } catch { throw .noBus(error) }
        for event in events {
            switch event {
            case .invoked(let id, let token): desk.noteInvoked(id: id, activationToken: token)
            case .closed(let id): desk.noteClosed(id: id)
            case .changed:
                showsActions = nil
                desk.noteServerChanged()
            }
        }
    }

    private mutating func takeEndedSignIns() {
        for program in signIns where Self.isReadable(program.descriptor) {
            desk.noteSignInEnded(program.account, problem: program.takeProblem())
            signIns.removeAll { $0 === program }
        }
    }

    // MARK: What goes out

    private mutating func perform(_ effects: [NotificationDesk.Effect]) {
        for effect in effects {
            switch effect {
            case .withdraw(let id): server.withdraw(id)
            case .signIn(let account, let token): signIn(to: account, activationToken: token)
            case .show(let account, let text, let replaces): show(account, text, replaces)
            }
        }
    }

    private mutating func signIn(to account: String, activationToken: String?) {
        let program = SignInProgram(
            authctl: authctl,
            account: account,
            socket: namedSocket,
            activationToken: activationToken
        )
        guard let program else { return desk.noteSignInEnded(account, problem: "authctl cannot be started") }
        signIns.append(program)
    }

    private mutating func show(_ account: String, _ text: NotificationText, _ replaces: UInt32) {
        if showsActions == nil { showsActions = server.showsActions() }
        let hasActions = showsActions ?? false
        let body = text.markup(hasActions: hasActions, command: "authctl login \(account)")
        // Without a server nothing is shown: one that comes up later is told of all that is needed then.
        guard let id = server.show(text, body: body, hasActions: hasActions, replaces: replaces) else { return }
        desk.noteShown(account, id: id)
    }

    // MARK: Waiting

    private borrowing func wait() {
        let busEvents = Int16(POLLIN) | (server.wantsToWrite ? Int16(POLLOUT) : 0)
        var interest = [pollfd(fd: server.descriptor, events: busEvents, revents: 0)]
        var timeout = server.timeout
        switch feed {
        case .some(let feed): interest.append(pollfd(fd: feed.descriptor, events: Int16(POLLIN), revents: 0))
        case nil:
            let pause = reconnection.milliseconds(from: .now)
            timeout = timeout < 0 ? pause : min(timeout, pause)
        }
        interest += signIns.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        unsafe poll(&interest, nfds_t(interest.count), timeout)
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&interest, 1, 0) > 0
    }

    /// The session bus's address: the desktop's word for it, or where systemd has it.
    static var sessionBus: String {
        let runtime = environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        return environment("DBUS_SESSION_BUS_ADDRESS") ?? "unix:path=\(runtime)/bus"
    }

    /// Nil: it is not set, or empty.
    static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}
