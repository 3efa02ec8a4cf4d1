internal import AuthRefreshInterface
internal import Basics
internal import Glibc
internal import TextEncodings

/// One web session on this terminal. This program opens a page, and the daemon waits for the browser to come back.
///
/// The session belongs to this program, and ends with it in any case.
struct WebSession: ~Copyable {
    /// The placeholder for the callback in the page's address, because the callback's port may not be known in advance.
    static let callbackPlace = "{callback}"

    /// The address from the caller. It may contain secrets.
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
    ) throws(Report) {
        self.address = address
        self.parameters = parameters
        self.connection = connection
        self.output = output
        page = PageOpening(window)
        daemon = try connection.connect()
        signals = CaughtSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD])
        paste = PastePrompt(takesPaste: StandardInput.isTerminal && !output.json)
    }

    /// Guides the person through the session, and closes the window that was opened only for it; returns the callback
    /// address.
    ///
    /// - Throws: `cancelled`; the daemon's error.
    consuming func run() throws(Report) -> String {
        do throws(Report) {
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

    private mutating func lead() throws(Report) -> String {
        try daemon.follow(parameters)
        while true {
            while let (reply, continues) = try daemon.availableReply(StartWebSession.Reply.self) {
                if let url = try take(reply, isLast: !continues) { return url }
            }
            let descriptors = [daemon.pollDescriptor] + paste.descriptors + page.descriptors
            let ready = signals.wait(for: descriptors, microseconds: nil)
            page.serve()
            if ready.contains(STDIN_FILENO) { try takeInput() }
            try takeSignals()
        }
    }

    private mutating func take(_ reply: StartWebSession.Reply, isLast: Bool) throws(Report) -> String? {
        attempt = reply.attempt
        if output.json { try output.printLine(reply, or: "") }
        if reply.event == "started" { try begin(reply) }
        guard isLast else { return nil }
        guard let url = reply.url else { throw .unreadableReply }
        return url
    }

    // MARK: The page

    private mutating func begin(_ reply: StartWebSession.Reply) throws(Report) {
        let link = try Self.link(to: address, callback: reply.callback)
        try page.choice.chooseBrowser(hint: "name another browser: --browser PROGRAM")
        // Sign-in flows return in the same three ways.
        let scheme = reply.callback.prefix { $0 != ":" }.lowercased()
        let flow: SignInFlow = scheme == "http" ? .browser : scheme == "https" ? .paste : .scheme
        // The person's, which the reply only repeats with its port.
        if flow == .scheme { SchemeHandler.registerAndTell(for: parameters.callback) }
        if flow == .paste { SchemeHandler.registerOwn(on: page.choice.place) }
        let text = SignInText(
            account: "web-session",
            action: "go on at",
            flow: flow,
            link: link,
            userCode: nil,
            place: page.choice.place,
            browser: page.choice.browser,
            takesPaste: paste.takesPaste
        )
        paste.tell(text.opening)
        if let reason = try page.open(link) { StandardError.warn(PageOpening.openYourself(reason)) }
        guard let prompt = text.prompt else {
            return StandardError.show("Waiting for the browser to come back; Ctrl-C cancels.\n")
        }
        paste.open(prompt)
    }

    /// The page's address with the callback inserted.
    ///
    /// - Throws: `usage` if it is not a web address. The address is not repeated.
    static func link(to address: SecretText, callback: String) throws(Report) -> WebLink {
        let text = address.reveal().replacing(callbackPlace, with: FormEncoding.encode(callback))
        guard let link = WebLink(text) else {
            throw .usage(
                "the page's address does not begin with https:// or http://",
                hint: "check the address, or see '\(Command("web-session", "--help"))'"
            )
        }
        return link
    }

    // MARK: The person

    private mutating func takeInput() throws(Report) {
        switch paste.take() {
        case .more, .blank, nil: break
        case .line(let text):
            paste.tell("")
            try handOn(text)
        case .unusable: paste.warn("this is not an address")
        case .ended: throw .cancelled
        }
    }

    /// Passes the text on over a separate connection, because the other one is busy.
    private mutating func handOn(_ text: String) throws(Report) {
        do throws(Report) {
            var daemon = try connection.connect()
            let parameters = ContinueSignIn.Parameters(attempt: attempt, redirect: text)
            _ = try daemon.ask(parameters)
        } catch {
            // The daemon's verdict on the pasted text. The session continues.
            guard error.reply != nil else { throw error }
            paste.warn(Hint(error.message))
        }
    }

    private mutating func takeSignals() throws(Report) {
        for number in signals.take() {
            switch number {
            case SIGINT: throw .cancelled
            case SIGCHLD:
                switch try page.takeEnd() {
                case .windowClosed: throw .cancelled
                case .notOpened(let reason): paste.warn(PageOpening.openYourself(reason))
                case .opened, nil: continue
                }
            default: paste.pass(number)
            }
        }
    }
}
