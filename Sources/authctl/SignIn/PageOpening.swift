internal import Glibc

/// A page that is opened for the person: the browser's process, and the way by which the address gets there.
///
/// With the address itself, every user of this machine could read what is secret in it among the browser's arguments: a sign-in's `state`, and
/// so answer in its place, or sign somebody else in.
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
        guard let detour = SecretLink.leading(to: link) else { return "no port on loopback can be had" }
        way = detour.link
        browser = Self.start(wanted, at: detour.link)
        guard browser != nil else { return "\(wanted.name) cannot be started" }
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
        DetachedProgram(browser.command(for: link), input: browser.isPortal ? link.text : nil)
    }

    /// Takes the end of the browser's process; to be called after SIGCHLD.
    ///
    /// - Returns: nil if there is nothing to be said of it.
    /// - Throws: `noPortal` or `portalFailed` if only the portal was to open the page, and did not.
    mutating func takeEnd() throws(AuthctlError) -> News? {
        guard let end = browser?.takeEnd() else { return nil }
        browser = nil
        if choice.browser?.isPortal ?? false { return try take(portalEnd: end) }
        guard end == .exited(0) else { return .notOpened(reason: "the browser was not opened") }
        // Another one's process only hands the address on, and ends at once.
        return choice.browser?.ownProfile == nil ? nil : .windowClosed
    }

    /// Where the portal refused, the person opens the page; where it did not answer, the usual browser does.
    private mutating func take(portalEnd end: CommandOutput.End) throws(AuthctlError) -> News {
        switch end {
        case .exited(ExitStatus.success.rawValue): return .opened
        case .exited(ExitStatus.cancelled.rawValue): return .notOpened(reason: "the desktop's dialog was closed")
        default: break
        }
        // A window of the portal alone that cannot be had.
        guard !choice.isByPortalOnly else {
            throw end == .exited(ExitStatus.misconfigured.rawValue) ? .noPortal : .portalFailed
        }
        if let fallback = choice.takeFallback(), let way { browser = Self.start(fallback, at: way) }
        return browser == nil ? .notOpened(reason: "the browser was not opened") : .opened
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
