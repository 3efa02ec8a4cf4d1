internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// Opens a page for the person. It keeps the browser's process, and the way in which the browser gets the address.
///
/// If the address itself were an argument of the browser, every user of this machine could read its secrets, such as a
/// sign-in's `state`. They could then answer in the person's place, or sign somebody else in.
struct PageOpening: ~Copyable {
    /// News about the browser, if somebody has to be told.
    enum News: Equatable {
        /// The portal reports that the page is open, or a browser was started instead of the portal.
        case opened
        /// The session's own window was closed.
        case windowClosed
        /// The person closed the desktop's dialog, or nothing could be started. They have to open the page themselves.
        case notOpened(reason: String)
    }

    private static let browserNotOpened = "the browser was not opened"

    /// How long a browser may take to close its window.
    private static let closingPatience = Duration.seconds(3)

    /// Its browser is to be chosen before `open`.
    var choice: WindowChoice
    private var browser: DetachedProgram?
    /// The address with which the browser was started.
    private var way: WebLink?
    /// The redirect from that address; nil after it was used.
    private var detour: SecretLink?

    init(_ choice: WindowChoice) {
        self.choice = choice
        TemporaryProfile.removeAbandoned(in: .real)
    }

    /// The warning after an attempt that failed for `reason`.
    static func openYourself(_ reason: String) -> Hint { "\(reason): open the address yourself" }

    /// The descriptors to watch with poll(2) for `serve`.
    var descriptors: [Int32] {
        switch detour {
        case .some(let detour): detour.descriptors
        case nil: []
        }
    }

    /// Starts the browser.
    ///
    /// - Returns: why it could not be started; nil if it was, or if none has to be started.
    /// - Throws: `noPrivateWindow` if only a private window may open the page, and it could not be started.
    mutating func open(_ link: WebLink) throws(Report) -> String? {
        guard let wanted = choice.browser else { return nil }
        guard let detour = SecretLink.leading(to: link) else { return SecretLink.noPort }
        way = detour.link
        browser = Self.start(wanted, at: detour.link)
        guard browser != nil else {
            let reason = "\(wanted.name) cannot be started"
            guard !choice.isPrivate else { throw .noPrivateWindow(reason, hints: [Report.openPrivateWindow]) }
            return reason
        }
        self.detour = consume detour
        return nil
    }

    /// Whether a browser was started. The portal's result is known when its process ends.
    var isOpened: Bool { browser != nil && !(choice.browser?.isPortal ?? false) }

    /// Redirects the browser if it has connected, without waiting.
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

    /// Handles the end of the browser's process. Call it after SIGCHLD.
    ///
    /// - Returns: nil if nobody has to be told.
    /// - Throws: `noPortal` or `portalFailed` if only the portal may open the page, and it did not; `noPrivateWindow` if
    ///   only a private window may.
    mutating func takeEnd() throws(Report) -> News? {
        guard let end = browser?.takeEnd() else { return nil }
        browser = nil
        if choice.browser?.isPortal ?? false { return try take(portalEnd: end) }
        guard end == .exited(0) else {
            guard !choice.isPrivate else {
                throw .noPrivateWindow(Self.browserNotOpened, hints: [Report.openPrivateWindow])
            }
            return .notOpened(reason: Self.browserNotOpened)
        }
        // The process of a shared browser only passes the address on, and ends at once.
        return choice.browser?.ownProfile == nil ? nil : .windowClosed
    }

    /// If the portal refused, the person opens the page. If it did not answer, the usual browser does.
    private mutating func take(portalEnd end: ProgramRun.End) throws(Report) -> News {
        switch end {
        case .exited(ExitStatus.success.rawValue): return .opened
        case .exited(ExitStatus.cancelled.rawValue): return .notOpened(reason: "the desktop's dialog was closed")
        default: break
        }
        // A window that only the portal may open is not available.
        guard !choice.isByPortalOnly else {
            throw end == .exited(ExitStatus.misconfigured.rawValue) ? .noPortal : .portalFailed
        }
        if let fallback = choice.takeFallback(), let way { browser = Self.start(fallback, at: way) }
        return browser == nil ? .notOpened(reason: Self.browserNotOpened) : .opened
    }

    /// Closes the window that was opened only for this session, and removes its profile.
    ///
    /// - Parameter signals: used to wait for the browser's end.
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

    /// The remaining time in µs; nil if it is over.
    static func rest(until end: ContinuousClock.Instant) -> Int64? {
        let (seconds, attoseconds) = (end - .now).components
        let rest = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return rest > 0 ? rest : nil
    }
}

/// A way to show an address in a browser.
struct Browser: Equatable, Sendable {
    /// Its name in messages: `Firefox`, or `the browser` if the desktop chooses it.
    let name: String
    /// The program and its arguments. The address replaces each `%s`, or is added at the end.
    let words: [String]
    /// The profile that only this browser uses. Its process then is the window, and ends when the window is closed. Nil
    /// if a running browser may open the address.
    var ownProfile: String?
    /// The descriptor that marks its profile as in use. The browser's process keeps it open, because it may outlive
    /// this one.
    var profileLock: Int32?
    /// Whether this is the desktop's portal. It gets the address on standard input, and its exit status says whether
    /// the page was opened.
    var isPortal = false

    /// The portal, through the agent's program next to this one; nil without a session bus.
    static func portal(in surroundings: Surroundings, parentWindow: String? = nil) -> Browser? {
        let own = surroundings.program
        let agent = String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/authagent"
        guard surroundings.environment("DBUS_SESSION_BUS_ADDRESS") != nil, surroundings.program(named: agent) != nil
        else { return nil }
        let words = [agent, "--open"] + (parentWindow.map { [$0] } ?? [])
        return Browser(name: "the browser", words: words, isPortal: true)
    }

    /// The command line that shows `link`. No shell ever sees it.
    func command(for link: WebLink) -> [String] {
        guard !isPortal else { return words }
        let hasPlace = words.contains { $0.contains("%s") }
        return words.map { $0.replacing("%s", with: link.text) } + (hasPlace ? [] : [link.text])
    }

    /// The usual browser: the one in the user's variable, the desktop's, or any installed one; nil if there is none.
    static func usual(in surroundings: Surroundings) -> Browser? {
        if let browser = named(in: surroundings) ?? ofWindows(in: surroundings) { return browser }
        // Debian's x-www-browser is the administrator's choice; the others are guesses.
        for program in ["xdg-open", "x-www-browser"] where surroundings.program(named: program) != nil {
            return Browser(name: "the browser", words: [program])
        }
        return KnownBrowser.installed(in: surroundings).first.map { Browser(name: $0.name, words: [$0.program]) }
    }

    /// The first available browser in `BROWSER`, which has commands separated by colons as for xdg-open; nil if there
    /// is none.
    ///
    /// Browsers that need the terminal are skipped, because it is in use.
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

    /// The browser of the Windows that this Linux runs in (WSL), where the person is signed in; nil elsewhere.
    ///
    /// A window of Linux would show an empty browser there, if it shows any. The address is that of `SecretLink`, which
    /// has nothing that PowerShell reads as more than text.
    static func ofWindows(in surroundings: Surroundings) -> Browser? {
        guard surroundings.isInWindows else { return nil }
        let shell = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", "Start-Process '%s'"]
        let ways = [["wslview"], shell]
        return ways.first { surroundings.program(named: $0[0]) != nil }
            .map { Browser(name: "Windows' browser", words: $0) }
    }

    /// How long `show` waits, in µs. A browser on a slow machine needs as long to start, and nobody waits longer.
    private static let patience: Int64 = 60_000_000

    /// Opens a page that nobody has to be told more about, such as the one that ends the person's session at the
    /// authorization server (OpenID Connect RP-Initiated Logout).
    ///
    /// - Parameter link: the address. It may contain secrets, such as an ID token.
    /// - Returns: why that failed; nil if it succeeded.
    func show(_ link: WebLink) -> String? {
        let signals = CaughtSignals([SIGCHLD])
        guard var detour = SecretLink.leading(to: link) else { return SecretLink.noPort }
        guard let program = DetachedProgram(command(for: detour.link)) else { return "\(name) cannot be started" }
        let end = ContinuousClock.now + .microseconds(Self.patience)
        while let left = PageOpening.rest(until: end) {
            if !signals.wait(for: detour.descriptors, microseconds: left).isEmpty, detour.serve() { return nil }
            // A program that only passes the address on ends at once with success.
            if !signals.take().isEmpty, let result = program.takeEnd(), result != .exited(0) {
                return "\(name) was not opened"
            }
        }
        return "\(name) did not open the page"
    }

    private static let textBrowsers: Set<String> = ["elinks", "links", "links2", "lynx", "w3m", "www-browser"]
}

/// A started program that runs independently: it outlives this one, and has neither its terminal nor its signals.
struct DetachedProgram {
    /// POSIX_SPAWN_SETSID of spawn.h, which Swift sees only with _GNU_SOURCE.
    private static let newSession: Int16 = 0x80

    let pid: pid_t

    /// Starts a program from `PATH`, without a shell.
    ///
    /// - Parameters:
    ///   - input: its standard input, shorter than a socket's buffer (208 KiB, socket(7)); nil for none.
    ///   - descriptor: an open descriptor besides its standard streams; nil for none.
    /// - Returns: nil if it cannot be started.
    init?(_ words: [String], input: String? = nil, keepingOpen descriptor: Int32? = nil) {
        var ends: [Int32] = [-1, -1]
        if let input {
            // A socket pair is close-on-exec in one step. Swift cannot create such a pipe.
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
            let bytes = Array("\(input)\n".utf8)
            _ = unsafe write(ends[1], bytes, bytes.count)
        }
        defer { for end in ends where end >= 0 { close(end) } }
        // It runs in its own session, because Ctrl-C and the end of the terminal must not affect it. It gets the
        // default signals.
        var (none, child) = (sigset_t(), pid_t(0))
        unsafe sigemptyset(&none)
        let failure = unsafe ProgramRun.start(
            words,
            &child,
            blocking: none,
            // All of signal(7).
            resetting: [Int32](1...64),
            flags: Self.newSession
        ) { actions in
            // A browser's messages do not belong on this terminal.
            for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
                unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            }
            if ends[0] >= 0 { unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO) }
            // A descriptor duplicated onto itself is not closed (posix_spawn_file_actions_adddup2(3p)).
            if let descriptor { unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }
        }
        guard failure == 0 else { return nil }
        pid = child
    }

    /// How it has ended; nil while it runs.
    func takeEnd() -> ProgramRun.End? {
        var status: Int32 = 0
        guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return nil }
        return .exited(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
    }
}
