internal import Glibc

/// A page that is opened for the person: the browser's process, and the way by which the address gets there.
///
/// With the address itself, every user of this machine could read what is secret in it among the browser's arguments: a sign-in's
/// `state`, and so answer in its place, or sign somebody else in.
struct PageOpening: ~Copyable {
    /// What became of the browser, as far as anybody has to be told.
    enum News: Equatable {
        /// The page is in a browser, as the portal says; or one was started in the portal's place.
        case opened
        /// The window was the session's own, and was closed.
        case windowClosed
        /// The person has closed the desktop's dialog, or nothing could be started: they open the page themselves.
        case notOpened(reason: String)
    }

    /// How long a browser may take to close its window.
    private static let closingPatience = Duration.seconds(3)

    private(set) var choice: WindowChoice
    private var browser: DetachedProgram?
    /// What the browser was started with.
    private var way: WebLink?
    /// What the browser was started with leads on from there; nil once it did.
    private var detour: SecretLink?

    init(_ choice: WindowChoice) {
        self.choice = choice
        TemporaryProfile.removeAbandoned(in: .real)
    }

    /// What poll(2) is to watch for `serve`.
    var descriptors: [Int32] {
        switch detour {
        case .some(let detour): detour.descriptors
        case nil: []
        }
    }

    /// Chooses the browser; to be called before `open`.
    ///
    /// - Throws: as `WindowChoice.chooseBrowser`.
    mutating func chooseBrowser(configured: String? = nil, hint: String = "") throws(AuthctlError) {
        try choice.chooseBrowser(configured: configured, hint: hint)
    }

    /// Starts the browser.
    ///
    /// - Returns: why it could not be started; nil if it was, or if none is to be.
    mutating func open(_ link: WebLink) -> String? {
        guard let wanted = choice.browser else { return nil }
        guard let detour = SecretLink.leading(to: link) else { return PageTrouble.noPort }
        way = detour.link
        browser = Self.start(wanted, at: detour.link)
        guard browser != nil else { return PageTrouble.cannotStart(wanted.name) }
        self.detour = consume detour
        return nil
    }

    /// Whether a browser was started. What the portal did is known when its process ends.
    var isOpened: Bool { browser != nil && !(choice.browser?.isPortal ?? false) }

    /// Leads the browser on if it has come; does not wait.
    mutating func serve() {
        if detour?.serve() ?? false { detour = nil }
    }

    private static func start(_ browser: Browser, at link: WebLink) -> DetachedProgram? {
        DetachedProgram(
            browser.command(for: link),
            input: browser.isPortal ? link.text : nil,
            keepingOpen: browser.profileLock
        )
    }

    /// Takes the end of the browser's process; to be called after SIGCHLD.
    ///
    /// - Returns: nil if there is nothing to be said of it.
    /// - Throws: `noPortal` or `portalFailed` if only the portal was to open the page, and did not.
    mutating func takeEnd() throws(AuthctlError) -> News? {
        guard let end = browser?.takeEnd() else { return nil }
        browser = nil
        if choice.browser?.isPortal ?? false { return try take(portalEnd: end) }
        guard end == .exited(0) else { return .notOpened(reason: PageTrouble.browserNotOpened) }
        // Another one's process only hands the address on, and ends at once.
        return choice.browser?.ownProfile == nil ? nil : .windowClosed
    }

    /// Where the portal refused, the person opens the page; where it did not answer, the usual browser does.
    private mutating func take(portalEnd end: CommandOutput.End) throws(AuthctlError) -> News {
        switch end {
        case .exited(ExitStatus.success.rawValue): return .opened
        case .exited(ExitStatus.cancelled.rawValue): return .notOpened(reason: PageTrouble.dialogClosed)
        default: break
        }
        // A window of the portal alone that cannot be had.
        guard !choice.isByPortalOnly else {
            throw end == .exited(ExitStatus.misconfigured.rawValue) ? .noPortal : .portalFailed
        }
        if let fallback = choice.takeFallback(), let way { browser = Self.start(fallback, at: way) }
        return browser == nil ? .notOpened(reason: PageTrouble.browserNotOpened) : .opened
    }

    /// Closes the window that was opened for this alone, and removes its profile.
    ///
    /// - Parameter signals: what the browser's end is waited for by.
    mutating func close(waitingBy signals: borrowing CaughtSignals) {
        guard let profile = choice.browser?.ownProfile else { return }
        if let browser, browser.takeEnd() == nil {
            kill(browser.pid, SIGTERM)
            let patience = ContinuousClock.now + Self.closingPatience
            while browser.takeEnd() == nil, let rest = Self.rest(until: patience) {
                _ = signals.wait(for: [], microseconds: rest)
                _ = signals.take()
            }
        }
        browser = nil
        TemporaryProfile.remove(profile, .real)
    }

    /// In µs; nil if nothing is left.
    private static func rest(until end: ContinuousClock.Instant) -> Int64? {
        let (seconds, attoseconds) = (end - .now).components
        let rest = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return rest > 0 ? rest : nil
    }
}

/// A way to show an address in a browser.
struct Browser: Equatable, Sendable {
    /// As it is called in messages: `Firefox`; `the browser` if the desktop chooses it.
    let name: String
    /// The program and its arguments; the address is put in place of each `%s`, or at the end.
    let words: [String]
    /// The profile that this browser alone uses. Its process is then the window: it ends when the window is closed. Nil: the browser may
    /// be one that runs already.
    var ownProfile: String?
    /// The descriptor that says that its profile is in use. Its process keeps it open, because it may outlive this one.
    var profileLock: Int32?
    /// Whether this is the desktop's portal. The address goes to its standard input, and its exit status says whether it was opened.
    var isPortal = false

    /// The portal, by the agent's program beside this one; nil if there is no session bus to ask.
    static func portal(in surroundings: Surroundings, parentWindow: String? = nil) -> Browser? {
        let own = surroundings.program
        let agent = String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/authagent"
        guard surroundings.environment("DBUS_SESSION_BUS_ADDRESS") != nil, surroundings.program(named: agent) != nil
        else { return nil }
        let words = [agent, "--open"] + (parentWindow.map { [$0] } ?? [])
        return Browser(name: "the browser", words: words, isPortal: true)
    }

    /// The words that show `link`, none of which a shell ever sees.
    func command(for link: WebLink) -> [String] {
        guard !isPortal else { return words }
        let hasPlace = words.contains { $0.contains("%s") }
        return words.map { $0.replacing("%s", with: link.text) } + (hasPlace ? [] : [link.text])
    }

    /// The one that the user's variable names, the desktop's own, or any that there is; nil if there is none.
    static func usual(in surroundings: Surroundings) -> Browser? {
        if let browser = named(in: surroundings) { return browser }
        // Debian's x-www-browser is what the administrator chose; the others are guesses.
        for program in ["xdg-open", "x-www-browser"] where surroundings.program(named: program) != nil {
            return Browser(name: "the browser", words: [program])
        }
        return KnownBrowser.installed(in: surroundings).first.map { Browser(name: $0.name, words: [$0.program]) }
    }

    /// The first of `BROWSER` that is there: commands parted by colons, as xdg-open takes them; nil if it names none.
    ///
    /// Browsers that need the terminal are passed over: it is in use.
    static func named(in surroundings: Surroundings) -> Browser? {
        let commands = surroundings.environment("BROWSER")?.split(separator: ":") ?? []
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            guard let program = words.first, surroundings.program(named: program) != nil else { continue }
            let name = program.split(separator: "/").last.map(String.init) ?? program
            guard !textBrowsers.contains(name) else { continue }
            return Browser(name: KnownBrowser.known(as: name)?.name ?? "'\(name)'", words: words)
        }
        return nil
    }

    private static let textBrowsers: Set<String> = ["elinks", "links", "links2", "lynx", "w3m", "www-browser"]
}

/// A program that is started and left to itself: it outlives this one, and has neither its terminal nor its signals.
struct DetachedProgram {
    /// POSIX_SPAWN_SETSID of spawn.h, which Swift sees only with _GNU_SOURCE.
    private static let newSession: Int16 = 0x80

    let pid: pid_t

    /// Starts a program of `PATH`, without a shell.
    ///
    /// - Parameters:
    ///   - input: what it reads, shorter than a socket's buffer (208 KiB, socket(7)); nil: nothing.
    ///   - descriptor: what it has open beside its standard streams; nil: nothing.
    /// - Returns: nil if it cannot be started.
    init?(_ words: [String], input: String? = nil, keepingOpen descriptor: Int32? = nil) {
        var ends: [Int32] = [-1, -1]
        if let input {
            // Close-on-exec in one step, which Swift sees of no pipe.
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
            let bytes = Array("\(input)\n".utf8)
            _ = unsafe write(ends[1], bytes, bytes.count)
        }
        defer { for end in ends where end >= 0 { close(end) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // What a browser complains about is not for this terminal.
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        if ends[0] >= 0 { unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO) }
        // Onto itself: it is not closed then (posix_spawn_file_actions_adddup2(3p)).
        if let descriptor { unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A session of its own: Ctrl-C and the end of the terminal are not meant for it. Signals as they are without us.
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Self.newSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, flags)

        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var child: pid_t = 0
        guard unsafe posix_spawnp(&child, words[0], &actions, &attributes, &arguments, environ) == 0 else { return nil }
        pid = child
    }

    /// How it has ended; nil while it runs.
    func takeEnd() -> CommandOutput.End? {
        var status: Int32 = 0
        guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return nil }
        return .exited(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
    }
}
