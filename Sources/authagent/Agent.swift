internal import AuthRefreshInterface
internal import Basics
internal import Glibc
internal import Systemd

/// Shows the person at the screen which accounts need them, and starts the sign-in when they click.
///
/// One thread waits in poll(2) for the daemon, the bus and the sign-ins that it has started. Between events it does
/// nothing.
struct Agent: ~Copyable {
    private let socket: String
    /// The socket to pass to `authctl login`; nil if that finds the daemon itself.
    private let namedSocket: String?
    private let authctl: String
    private let server: NotificationServer
    /// The daemon's changes; nil while the daemon does not answer.
    private var feed: DaemonFeed<Subscribe.Parameters>?
    private var reconnection = Reconnection()
    private var desk = NotificationDesk()
    /// The daemon's questions; nil if the daemon does not answer, or if no notification server shows buttons.
    private var questions: DaemonFeed<ServeConfirmations.Parameters>?
    /// Whether to request questions from the daemon when it answers.
    private var wantsQuestions = false
    private var questionDesk = QuestionDesk()
    private var signIns: [SignInProgram] = []
    /// Whether the server shows buttons; nil if it was not asked yet, or has changed.
    private var showsActions: Bool?

    /// Connects to the bus.
    ///
    /// - Parameters:
    ///   - namedSocket: the value of `--socket`.
    ///   - authctl: the path of the program that signs in.
    /// - Throws: if there is no bus. A missing daemon is not an error; the agent waits for it.
    init(namedSocket: String?, authctl: String) throws(ProgramError) {
        server = try Self.connect(Self.sessionBus)
        socket = namedSocket ?? SocketPath.usual
        self.namedSocket = namedSocket
        self.authctl = authctl
    }

    private static func connect(_ address: String) throws(ProgramError) -> NotificationServer {
        do throws(SystemdError) {
            return try NotificationServer(address: address)
        } catch {
            throw .noBus(error)
        }
    }

    /// Runs until the bus is gone.
    mutating func run() throws(ProgramError) -> Never {
        while true {
            takeChanges()
            takeQuestions()
            try takeEvents()
            perform(desk.takeEffects())
            wait()
            takeEndedSignIns()
        }
    }

    // MARK: Input

    private mutating func takeChanges() {
        do throws(ProgramError) {
            if feed == nil {
                guard reconnection.isDue(at: .now) else { return }
                feed = try DaemonFeed(Subscribe.Parameters(), socket: socket)
                desk.beginPresentState()
            }
            let changes = try feed?.takeReplies() ?? []
            for change in changes { desk.apply(change) }
            // A connection alone proves nothing, because systemd's socket accepts it even if the daemon cannot start.
            if !changes.isEmpty { reconnection.noteAnswer() }
            if changes.contains(where: { $0.isReady }) { wantsQuestions = true }
        } catch {
            feed = nil
            endQuestions()
            if reconnection.noteFailure(at: .now) {
                log("\(error.message); retrying at growing intervals of up to 5 minutes")
            }
        }
    }

    /// Follows the daemon's questions while a desktop can show them.
    private mutating func takeQuestions() {
        guard feed != nil, wantsQuestions || questions != nil else { return }
        do throws(ProgramError) {
            if questions == nil {
                wantsQuestions = false
                guard canAsk() else { return }
                questions = try DaemonFeed(ServeConfirmations.Parameters(), socket: socket)
            }
            for told in try questions?.takeReplies() ?? [] { take(told) }
        } catch {
            // The other feed notices a daemon that has gone, and an older daemon asks no questions.
            endQuestions()
        }
    }

    private mutating func take(_ told: ServeConfirmations.Reply) {
        guard let question = told.question else { return }
        guard told.event == "asked" else {
            if let id = questionDesk.noteWithdrawn(question) { server.withdraw(id) }
            return
        }
        // Without an answer, the daemon withdraws the question and refuses the call.
        guard let (summary, body) = QuestionDesk.text(of: told) else { return }
        let id = server.show(summary, body: body, actions: QuestionDesk.actions(for: told), replaces: 0)
        // If this connection ends, the daemon tells its callers that nobody can ask.
        guard let id else { return endQuestions() }
        questionDesk.noteShown(question, id: id)
    }

    /// Gives up the questions. The daemon tells its callers that nobody can ask, so none may stay on the screen.
    private mutating func endQuestions() {
        questions = nil
        for id in questionDesk.forgetAll() { server.withdraw(id) }
    }

    private mutating func canAsk() -> Bool {
        if showsActions == nil { showsActions = server.showsActions() }
        return showsActions == true
    }

    /// Sends the daemon a person's answer.
    private func bring(_ answer: ConfirmationAnswer, to question: String) {
        do throws(VarlinkClientError) {
            var connection = try VarlinkConnection(path: socket)
            let parameters = AnswerConfirmation.Parameters(question: question, answer: answer.rawValue)
            _ = try connection.ask(parameters, timeoutMilliseconds: 5000)
        } catch {
            let reason = ProgramError.noDaemon(error).message
            log("your answer did not reach the daemon, so the program gets nothing: \(reason)")
        }
    }

    /// Writes a line to standard error, which the service manager takes to the journal.
    private func log(_ message: String) {
        let line = Array("authagent: \(message)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
    }

    private mutating func takeEvents() throws(ProgramError) {
        let events: [NotificationEvent]
        do throws(SystemdError) { events = try server.takeEvents() } catch { throw .noBus(error) }
        for event in events {
            switch event {
            case .invoked(let id, let action, let token):
                if let said = questionDesk.takeAnswer(id: id, action: action) {
                    server.withdraw(id)
                    bring(said.answer, to: said.question)
                } else {
                    desk.noteInvoked(id: id, activationToken: token)
                }
            case .closed(let id, let byPerson):
                if let question = questionDesk.noteClosed(id: id, byPerson: byPerson) { bring(.deny, to: question) }
                desk.noteClosed(id: id, byPerson: byPerson)
            case .changed:
                showsActions = nil
                desk.noteServerChanged()
                // The new server knows none of the numbers.
                _ = questionDesk.forgetAll()
                questions = nil
                wantsQuestions = true
            }
        }
    }

    private mutating func takeEndedSignIns() {
        for program in signIns where Self.isReadable(program.descriptor) {
            desk.noteSignInEnded(program.account, problem: program.takeProblem())
            signIns.removeAll { $0 === program }
        }
    }

    // MARK: Output

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
        guard let program else {
            let problem = "The sign-in did not start: authctl is missing, or cannot run."
            return desk.noteSignInEnded(account, problem: problem)
        }
        signIns.append(program)
    }

    private mutating func show(_ account: String, _ text: NotificationText, _ replaces: UInt32) {
        if showsActions == nil { showsActions = server.showsActions() }
        let hasActions = (showsActions ?? false) && text.offersSignIn
        let body = text.markup(hasActions: hasActions, command: Command("login", account).text(by: .usual))
        let actions = hasActions ? Self.signInActions : []
        // Without a server nothing is shown. A server that starts later gets everything that is needed then.
        let (summary, isQuiet) = (text.summary, text.isQuiet)
        guard let id = server.show(summary, body: body, isQuiet: isQuiet, actions: actions, replaces: replaces) else {
            return
        }
        desk.noteShown(account, id: id)
    }

    private static let signInActions = ["default", "sign-in"].map { (key: $0, label: "Sign in") }

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
        switch questions {
        case .some(let questions): interest.append(pollfd(fd: questions.descriptor, events: Int16(POLLIN), revents: 0))
        case nil: break
        }
        interest += signIns.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        unsafe poll(&interest, nfds_t(interest.count), timeout)
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&interest, 1, 0) > 0
    }

    /// The session bus's address from the desktop, or else systemd's default.
    static var sessionBus: String {
        let runtime = environmentValue("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
        return environmentValue("DBUS_SESSION_BUS_ADDRESS") ?? "unix:path=\(runtime)/bus"
    }
}
