internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// One sign-in on this terminal. The daemon runs it. This program shows it, opens the browser, and passes on what the
/// person pastes.
///
/// Ctrl-C also cancels it at the daemon. If this program ends in another way, the sign-in continues, and `authctl
/// login` follows it again.
struct SignInSession: ~Copyable {
    /// How many seconds the daemon has to confirm a cancellation. A user who types Ctrl-C wants the prompt back.
    private static let cancelPatience: Int32 = 3

    /// Shown instead of a prompt.
    private static let waiting = "Waiting for you to sign in; Ctrl-C cancels.\n"

    /// Without the flow.
    private let parameters: StartSignIn.Parameters
    /// The account to sign in to. It may not exist yet.
    private var account: String { parameters.newAccount ?? parameters.account }
    /// The flows to try in this order until the server accepts one; nil lets the daemon choose.
    private let flows: [SignInFlow?]
    private let connection: ConnectionOptions
    private let output: OutputOptions
    private var daemon: DaemonConnection
    private let signals: CaughtSignals
    private var paste: PastePrompt
    private var attempt: String?
    /// Whether another program began the sign-in. Then a missing browser here does not end it.
    private var isJoined = false
    /// The daemon's last reply, once the sign-in is over.
    private var ending: StartSignIn.Reply?
    private var page: PageOpening
    /// What the person is told if no answer arrives; nil after that, or if no answer is expected.
    private var reminder: SignInReminder?
    /// The invitation that waits until the person has registered the redirect URI; nil for none.
    private var waiting: StartSignIn.Reply?

    /// - Parameter takesPaste: whether standard input is read.
    init(
        _ parameters: StartSignIn.Parameters,
        flows: [SignInFlow?],
        window: WindowChoice,
        takesPaste: Bool,
        connection: ConnectionOptions,
        output: OutputOptions
    ) throws(Report) {
        self.parameters = parameters
        self.flows = flows
        self.connection = connection
        self.output = output
        page = PageOpening(window)
        daemon = try connection.connect()
        signals = CaughtSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD])
        paste = PastePrompt(takesPaste: takesPaste)
    }

    /// Guides the person through the sign-in, and closes the window that was opened only for it; returns the account's
    /// state, and the daemon's last reply.
    ///
    /// After it, signals and keys have their usual effect again. Whatever the person is asked next can be ended.
    ///
    /// - Throws: the daemon's error, which says how the sign-in ended; `cancelled`.
    consuming func run() throws(Report) -> (status: AccountStatus, ending: StartSignIn.Reply?) {
        do throws(Report) {
            let status = try lead()
            paste.close()
            page.close(waitingBy: signals)
            return (status, ending)
        } catch {
            paste.close()
            page.close(waitingBy: signals)
            throw error
        }
    }

    private mutating func lead() throws(Report) -> AccountStatus {
        let (first, fallback) = (flows.first ?? nil, flows.dropFirst().first)
        do throws(Report) {
            return try run(first)
        } catch {
            // After the person was at the server, only another grant may help.
            guard let fallback, attempt == nil ? error.isMisconfiguredSignIn : error.forbidsFlow else { throw error }
            return try run(fallback, after: error, of: first)
        }
    }

    /// Tries another flow after the server, or the account's client, has refused `first`.
    private mutating func run(
        _ fallback: SignInFlow?,
        after refusal: Report,
        of first: SignInFlow?
    ) throws(Report) -> AccountStatus {
        // Many servers do not support the device flow, so its refusal does not show what is wrong.
        guard first != .device || refusal.forbidsFlow else { return try run(fallback) }
        StandardError.warn(Hint(refusal.message))
        if refusal.forbidsFlow { StandardError.note("trying \(fallback.words) instead") }
        (attempt, waiting) = (nil, nil)
        do throws(Report) {
            return try run(fallback)
        } catch {
            throw error.isMisconfiguredSignIn ? refusal : error
        }
    }

    private mutating func run(_ flow: SignInFlow?) throws(Report) -> AccountStatus {
        var parameters = parameters
        parameters.flow = flow?.rawValue
        try daemon.follow(parameters)
        // The server may first be asked for its metadata, or to store the request.
        reminder = StandardError.isTerminal ? SignInReminder(server: account) : nil
        do throws(Report) {
            while true {
                while let (reply, continues) = try daemon.availableReply(StartSignIn.Reply.self) {
                    if let status = try take(reply, isLast: !continues) { return status }
                }
                let descriptors = [daemon.pollDescriptor] + paste.descriptors + page.descriptors
                let ready = signals.wait(for: descriptors, microseconds: reminder?.remaining)
                if let due = reminder.takeIfDue() {
                    paste.tell(due)
                    paste.show()
                }
                page.serve()
                if ready.contains(STDIN_FILENO), let status = try takeInput() { return status }
                if let status = try takeSignals() { return status }
            }
        } catch {
            paste.end()
            throw error
        }
    }

    // MARK: News from the daemon

    /// Handles a reply; returns the account's state once the sign-in is over.
    private mutating func take(_ reply: StartSignIn.Reply, isLast: Bool) throws(Report) -> AccountStatus? {
        attempt = reply.attempt
        if output.json { try output.printLine(reply, or: "") }
        switch reply.event {
        case "started": try begin(reply)
        case "password-reset":
            // The server need not name the policy in which the password is reset.
            let policy = reply.policy.map { " (the policy '\(PlainText.line($0))')" } ?? ""
            try goOn(reply, "to the page that resets the password\(policy)")
        case "sign-in-again": try goOn(reply, "back to the sign-in: the password is reset")
        // It may be an error.
        case "callback-received": reminder = nil
        case "exchanging" where parameters.policy == nil:
            paste.tell("\(account): the answer has arrived; fetching the tokens\n")
        default: break
        }
        guard isLast else { return nil }
        paste.end()
        guard let status = reply.status else { throw .unreadableReply }
        ending = reply
        if reply.refreshTokenKept ?? false {
            StandardError.note("the server gave no refresh token; the account keeps the one that it has")
        }
        return status
    }

    private mutating func begin(_ reply: StartSignIn.Reply) throws(Report) {
        // A reply without an address that a browser may open is invalid.
        guard let link = reply.url.flatMap(WebLink.init) else { throw .unreadableReply }
        isJoined = reply.joined ?? false
        if reply.clientReplaced ?? false {
            paste.tell("\(account): the server had forgotten the client, and has registered a new one\n")
        }
        if reply.awaitsRegistration ?? false, !isJoined, StandardInput.isTerminal, paste.takesPaste,
            let uri = reply.registeredUri
        {
            waiting = reply
            reminder = nil
            paste.tell(RedirectWords.request(uri, of: account))
            return paste.open("Press Enter when it is registered: ")
        }
        try invite(reply, to: link)
    }

    /// Sends the person to the server.
    private mutating func invite(_ reply: StartSignIn.Reply, to link: WebLink) throws(Report) {
        try chooseBrowser(of: reply)
        let flow = SignInFlow(rawValue: reply.flow)
        if flow == .scheme, let uri = reply.redirectUri {
            SchemeHandler.registerAndTell(for: uri, isNamed: reply.schemeFromProfile ?? false)
        }
        if flow == .paste, reply.redirectUri?.hasPrefix("https:") ?? false {
            SchemeHandler.registerOwn(on: page.choice.place)
        }
        let text = SignInText(
            account: account,
            flow: flow,
            link: link,
            userCode: reply.userCode,
            place: page.choice.place,
            browser: page.choice.browser,
            takesPaste: paste.takesPaste
        )
        let complete = reply.verificationUriComplete.flatMap(WebLink.init)
        if let scopes = reply.demandedScopes, !scopes.isEmpty {
            // A server has demanded more than the account has. Whoever starts the sign-in may not know that.
            let words = scopes.map(PlainText.line).joined(separator: " ")
            let refresh = Command("refresh", account).text(by: .here)
            paste.tell(
                "\(account): this sign-in also asks for scopes that a server has demanded: \(words)\n"
                    + "  to sign in without them: Ctrl-C, then \(refresh)\n"
            )
        }
        paste.tell(text.opening)
        reminder = flow == .device ? nil : SignInReminder(reply, of: account)
        if flow == .device, page.choice.browser == nil { showQRCode((complete ?? link).text, below: text.opening) }
        try open(complete ?? link)
        guard let prompt = text.prompt else { return StandardError.show(Self.waiting) }
        paste.open(prompt)
    }

    /// Sends the person to the server again: the browser that brought the answer is redirected, or an address is opened
    /// here.
    private mutating func goOn(_ reply: StartSignIn.Reply, _ place: String) throws(Report) {
        reminder = SignInReminder(reply, of: account)
        guard let url = reply.url else {
            paste.tell("\(account): the browser goes \(place)\n")
            return paste.show()
        }
        guard let link = WebLink(url) else { throw .unreadableReply }
        let how = page.choice.browser.map { "opening \(link.host) in \($0.name), to go" } ?? "open this address to go"
        paste.tell("\(account): \(how) \(place)\n\n  \(link.text)\n\n")
        try open(link)
        paste.show()
    }

    /// Chooses the browser. If it is missing, a sign-in of our own is ended.
    private mutating func chooseBrowser(of reply: StartSignIn.Reply) throws(Report) {
        do throws(Report) {
            let refused = reply.browserRefused ?? false ? self.account : nil
            let account = PlainText.line(parameters.account)
            let hint: Hint =
                "for this time: --browser PROGRAM;"
                + " for good: \(Command("account", "edit", account, "--login-browser", "NAME"))"
            // A kind that a newer daemon knows is refused, because another window would not be what the account wants.
            let window = try reply.window.map { name throws(Report) in
                guard let window = LoginWindow(rawValue: name) else { throw .unreadableReply }
                return window
            }
            try page.choice.chooseBrowser(ofAccount: reply.browser, refusedTo: refused, in: window, hint: hint)
        } catch {
            if !isJoined { askToCancel() }
            throw error
        }
    }

    /// Shows a QR code, if `opening` with the address and the code stays visible above it.
    private func showQRCode(_ text: String, below opening: String) {
        let style = TerminalStyle.standardError
        let above = WrappedText.text(opening + "\n" + Self.waiting, width: style.width)
        let lines = style.height.map { $0 - style.lineCount(of: above) }
        guard let code = QRCode(text)?.text(style, lines: lines) else { return }
        StandardError.show(code + "\n")
    }

    /// - Throws: `noPrivateWindow` if only a private window may open the page. A sign-in of our own is then ended.
    private mutating func open(_ link: WebLink) throws(Report) {
        let failure: String?
        do throws(Report) {
            failure = try page.open(link)
        } catch {
            if !isJoined { askToCancel() }
            throw error
        }
        if let reason = failure { return StandardError.warn(PageOpening.openYourself(reason)) }
        if page.isOpened { tellOpened() }
    }

    /// Reports that the browser was opened, for others to see. If that fails, the sign-in continues.
    private func tellOpened() {
        _ = try? handOn(ContinueSignIn.Parameters(attempt: attempt, opened: true))
    }

    /// Handles news about the browser.
    ///
    /// - Throws: `noPortal`, `portalFailed` or `noPrivateWindow` if no other way may open the page. A sign-in of our own is
    ///   then ended.
    private mutating func takeBrowserNews() throws(Report) -> PageOpening.News? {
        do throws(Report) {
            return try page.takeEnd()
        } catch {
            if !isJoined { askToCancel() }
            throw error
        }
    }

    // MARK: The person

    private mutating func takeInput() throws(Report) -> AccountStatus? {
        switch paste.take() {
        case .more, nil: return nil
        case .blank:
            guard let reply = waiting, let link = reply.url.flatMap(WebLink.init) else { return nil }
            waiting = nil
            paste.tell("")
            paste.close()
            try invite(reply, to: link)
        case .line(let text):
            paste.tell("")
            try handOnPasted(text)
        case .unusable: paste.warn("this is not an address")
        case .ended:
            guard !StandardInput.isTerminal else { return try cancel() }
            // A file without an address does not mean that the user cancels, because somebody may bring the address
            // with another program.
            paste.close()
            let callback = Command("callback", "URL").text(by: .here)
            paste.tell("Standard input was empty. Pass the address on with: \(callback)\n")
        }
        return nil
    }

    private mutating func handOnPasted(_ text: String) throws(Report) {
        do throws(Report) {
            try handOn(ContinueSignIn.Parameters(attempt: attempt, redirect: text))
        } catch {
            // The daemon's verdict on the pasted text. The end of the sign-in arrives on the other connection.
            guard error.reply != nil else { throw error }
            paste.warn(Hint(error.message))
        }
    }

    /// Passes the text on over a separate connection, because the other one is busy.
    private func handOn(_ parameters: ContinueSignIn.Parameters) throws(Report) {
        var daemon = try connection.connect()
        _ = try daemon.ask(parameters)
    }

    private mutating func takeSignals() throws(Report) -> AccountStatus? {
        for number in signals.take() {
            switch number {
            case SIGINT: return try cancel()
            case SIGCHLD:
                switch try takeBrowserNews() {
                case .opened: tellOpened()
                case .windowClosed: return try cancel()
                case .notOpened(let reason): paste.warn(PageOpening.openYourself(reason))
                case nil: continue
                }
            default: paste.pass(number)
            }
        }
        return nil
    }

    /// Cancels the sign-in at the daemon; returns the account's state if the sign-in was finished before.
    ///
    /// - Throws: the daemon's error; `cancelled` if it gives none.
    private mutating func cancel() throws(Report) -> AccountStatus? {
        paste.close()
        askToCancel()
        do throws(Report) {
            while true {
                let (reply, continues) = try daemon.nextReply(StartSignIn.Reply.self, patience: Self.cancelPatience)
                if let status = reply.status, !continues { return status }
                // The user cancelled before the sign-in had begun.
                if attempt == nil {
                    attempt = reply.attempt
                    askToCancel()
                }
            }
        } catch {
            guard error.reply != nil else { throw .cancelled }
            throw error
        }
    }

    private func askToCancel() {
        let whose = attempt == nil ? account : nil
        guard var daemon = try? connection.connect() else { return }
        _ = try? daemon.ask(CancelSignIn.Parameters(account: whose, attempt: attempt), patience: Self.cancelPatience)
    }
}

extension SignInFlow? {
    /// The flow in a sentence.
    fileprivate var words: String {
        switch self {
        case .browser, .scheme, nil: "a browser"
        case .device: "a code on any device"
        case .paste: "a browser, with its last address pasted here"
        }
    }
}

extension Report {
    /// Whether the server, or the account's client, does not support this flow.
    fileprivate var isMisconfiguredSignIn: Bool { signInFailure?.kind == "misconfigured" }

    /// Whether the server does not let the client sign in this way (RFC 6749 §5.2), so that another way may do.
    fileprivate var forbidsFlow: Bool {
        isMisconfiguredSignIn && signInFailure?.failure?.oauthError?.lowercased() == "unauthorized_client"
            && signInFailure?.failure?.httpStatus != 401
    }

    private var signInFailure: SignInFailedError? {
        reply?.decode(SignInFailedError.self)
    }
}
