internal import AuthRefreshInterface
internal import Glibc
internal import Terminal

/// One web session as this terminal sees it: a page is opened, and the daemon waits for where the browser comes back to.
///
/// The session is this program's: it ends with it, however that ends.
struct WebSession: ~Copyable {
    /// What the page's address has in place of the callback, if nobody knows its port beforehand.
    static let callbackPlace = "{callback}"

    /// µs. Nothing is due while it waits; pselect(2) wants some number.
    private static let longestWait: Int64 = 3_600_000_000

    /// As the caller gave it; it may hold secrets.
    private let address: SecretText
    private let parameters: StartWebSession.Parameters
    private let connection: ConnectionOptions
    private let output: OutputOptions
    private var daemon: DaemonConnection
    private let signals: CaughtSignals
    private var paste: PastePrompt
    private var page: PageOpening
    private var attempt: String?

    init(
        _ address: SecretText,
        _ parameters: StartWebSession.Parameters,
        window: WindowChoice,
        connection: ConnectionOptions,
        output: OutputOptions
    ) throws(AuthctlError) {
        self.address = address
        self.parameters = parameters
        self.connection = connection
        self.output = output
        page = PageOpening(window)
        daemon = try connection.connect()
        signals = CaughtSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD])
        paste = PastePrompt(takesPaste: StandardInput.isTerminal && !output.json)
    }

    /// Leads the person through it, and closes the window that was opened for it alone; where the browser came back to.
    ///
    /// - Throws: `cancelled`; `refused` with the daemon's word.
    mutating func run() throws(AuthctlError) -> String {
        do throws(AuthctlError) {
            let url = try lead()
            paste.close()
            page.close(waitingBy: signals)
            return url
        } catch {
            paste.close()
            page.close(waitingBy: signals)
            throw error
        }
    }

    private mutating func lead() throws(AuthctlError) -> String {
        try daemon.follow(.startWebSession, parameters)
        while true {
            while let (reply, continues) = try daemon.availableReply(StartWebSession.Reply.self) {
                if let url = try take(reply, isLast: !continues) { return url }
            }
            let descriptors = [daemon.pollDescriptor] + paste.descriptors + page.descriptors
            let ready = signals.wait(for: descriptors, microseconds: Self.longestWait)
            page.serve()
            if ready.contains(STDIN_FILENO) { try takeInput() }
            try takeSignals()
        }
    }

    private mutating func take(_ reply: StartWebSession.Reply, isLast: Bool) throws(AuthctlError) -> String? {
        attempt = reply.attempt
        if output.json { try output.printLine(reply, or: "") }
        if reply.event == "started" { try begin(reply) }
        guard isLast else { return nil }
        guard let url = reply.url else { throw .connection(.unreadableReply) }
        return url
    }

    // MARK: The page

    private mutating func begin(_ reply: StartWebSession.Reply) throws(AuthctlError) {
        let link = try Self.link(to: address, callback: reply.callback)
        try chooseBrowser(configured: reply.browser)
        let kind = CallbackKind(of: reply.callback)
        switch kind {
        case .loopback: break
        case .scheme: SchemeHandler.registerAndTell(for: reply.callback)
        case .page: HandedOnAddress.register(on: page.choice.place)
        }
        let text = SignInText(
            account: "web-session",
            action: "go on at",
            flow: kind.flow,
            link: link,
            userCode: nil,
            place: page.choice.place,
            browser: page.choice.browser,
            takesPaste: paste.takesPaste
        )
        paste.tell(text.opening)
        if let reason = page.open(link) { StandardError.warn(.openYourself(reason: reason)) }
        guard let prompt = text.prompt else { return StandardError.show(SignInProgress.waitingForBrowser) }
        paste.open(prompt)
    }

    private mutating func chooseBrowser(configured: String?) throws(AuthctlError) {
        do throws(AuthctlError) {
            try page.chooseBrowser(configured: configured, hint: "name another browser: --browser PROGRAM")
        } catch {
            throw error.asNoContext
        }
    }

    /// The page, with the callback in its place.
    ///
    /// - Throws: `usage` if it is no address of the web; it is not repeated.
    static func link(to address: SecretText, callback: String) throws(AuthctlError) -> WebLink {
        let text = address.reveal().replacing(callbackPlace, with: encoded(callback))
        guard let link = WebLink(text) else {
            throw .usage(.notAWebAddress)
        }
        return link
    }

    /// As the value of a parameter (RFC 3986 §2.1).
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let scalar = UnicodeScalar(byte)
            let isPlain =
                "-._~".unicodeScalars.contains(scalar) || Character(scalar).isLetter || Character(scalar).isNumber
            let digits = String(byte, radix: 16, uppercase: true)
            result += isPlain ? String(scalar) : "%" + (byte < 16 ? "0" : "") + digits
        }
    }

    // MARK: What the person does

    private mutating func takeInput() throws(AuthctlError) {
        switch paste.take() {
        case .more, nil: break
        case .line(let text):
            paste.tell("")
            try handOn(text)
        case .unusable: paste.warn(.notAnAddress)
        case .ended: throw .cancelled
        }
    }

    /// On a connection of its own: the other one is busy with its answer.
    private mutating func handOn(_ text: String) throws(AuthctlError) {
        do throws(AuthctlError) {
            var daemon = try connection.connect()
            let parameters = ContinueSignIn.Parameters(attempt: attempt, redirect: text)
            _ = try daemon.ask(.continueSignIn, parameters, for: ContinueSignIn.Reply.self)
        } catch {
            // The daemon's word on what was pasted; the session goes on.
            guard case .refused(let refusal) = error else { throw error }
            paste.warn(.addressRefused(refusal.report.message))
        }
    }

    private mutating func takeSignals() throws(AuthctlError) {
        for number in signals.take() {
            switch number {
            case SIGINT: throw .cancelled
            case SIGCHLD:
                switch try page.takeEnd() {
                case .windowClosed: throw .cancelled
                case .notOpened(let reason): paste.warn(.openYourself(reason: reason))
                case .opened, nil: continue
                }
            default: paste.pass(number)
            }
        }
    }
}

/// How a callback gets back to the daemon.
enum CallbackKind {
    case loopback, scheme, page

    init(of callback: String) {
        let scheme = callback.prefix { $0 != ":" }.lowercased()
        self = scheme == "http" ? .loopback : scheme == "https" ? .page : .scheme
    }

    /// The sign-in that comes back in the same way.
    var flow: SignInFlow {
        switch self {
        case .loopback: .browser
        case .scheme: .scheme
        case .page: .paste
        }
    }
}

/// The address of a page of one's own, `https://app.example/back?code=…`, as that page hands it to the desktop.
enum HandedOnAddress {
    /// A scheme of our own, before the whole address.
    static let prefix = "io.authrefresh:"

    /// Has the desktop hand such addresses to `authctl callback`, where there is a desktop. The scheme is nobody else's, and the address
    /// can be pasted without it: nothing is said of what came of it.
    static func register(on place: SignInPlace) {
        guard place == .desktop else { return }
        _ = SchemeHandler.register(for: prefix, in: .real)
    }
}

extension AuthctlError {
    /// The same for a program that has asked for a window which cannot be had.
    var asNoContext: AuthctlError {
        switch self {
        case .noPrivateWindow: .noContext(cause: self)
        case .secretAsArgument, .unknownCommand, .usage, .secretFile, .unusableDocument, .wrongIssuer, .noJournal,
            .secretsToTerminal,
            .cannotCreateFile, .cannotWriteOutput, .cannotReadBackup, .connection, .refused, .nameTaken, .notFresh,
            .keptButNotFresh, .signOutFailed, .reported, .cannotStartAgent, .cannotStartDaemon, .cannotStartSSH,
            .cannotRunCommand,
            .boundToken, .noPortal,
            .portalFailed, .noSuchBrowser, .noContext, .callbackIsError, .cancelled:
            self
        }
    }
}
