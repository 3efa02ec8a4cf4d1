internal import AuthRefreshInterface
internal import Basics

/// The browser that shows a page to the person, and the kind of window.
struct WindowChoice: Sendable {
    /// What to open, and whether the user asked for a special window.
    enum Kind: Sendable {
        case usual
        case privateWindow(hasOwnProfile: Bool)
        /// Only by the desktop's portal.
        case portal(parentWindow: String?)
        /// The user opens the page.
        case none
    }

    let place: SignInPlace
    /// The browser; nil if nothing is opened, or if the account's browser is not known yet.
    private(set) var browser: Browser?
    /// The browser if the portal, which is asked first, does not answer; nil for none.
    private(set) var fallback: Browser?
    private var kind: Kind
    /// Whether the page is opened on this desktop by default.
    private let isForDesktop: Bool
    /// Whether the user named the browser, so that the account's does not count.
    private let namesBrowser: Bool
    private let surroundings: Surroundings

    /// Makes the choice.
    ///
    /// - Parameters:
    ///   - name: the browser that the user named; nil leaves it to the account and to a later `chooseBrowser`.
    ///   - isForDesktop: false if the page is wanted on another device, so that no usual window is opened.
    /// - Throws: `noPrivateWindow`, `noPortal`, `noSuchBrowser`.
    init(
        _ kind: Kind,
        browser name: String?,
        isForDesktop: Bool = true,
        in surroundings: Surroundings
    ) throws(Report) {
        var surroundings = surroundings
        if let name {
            let hint: Hint = "name a program in PATH, or its path; or see the address: --no-open"
            surroundings = try surroundings.preferring(browser: name, hint: hint)
        }
        place = SignInPlace(surroundings)
        self.kind = kind
        self.isForDesktop = isForDesktop
        self.surroundings = surroundings
        namesBrowser = name != nil
        if case .privateWindow = kind, place != .desktop {
            throw .noPrivateWindow("there is no display here", hints: [Report.openPrivateWindow])
        }
        if namesBrowser { browser = try chosen(in: surroundings) }
    }

    /// Chooses the browser after the daemon has named the account's.
    ///
    /// - Parameters:
    ///   - name: the account's browser; nil if it names none.
    ///   - account: the account, if it has a command of an earlier version instead; nil otherwise.
    ///   - window: the kind of window that the account names; nil for an ordinary one. What the person asked for counts
    ///     more.
    ///   - hint: the hint if the account's browser, or the configured one, is missing.
    /// - Throws: `noPrivateWindow`, `noPortal`, `noSuchBrowser`.
    mutating func chooseBrowser(
        ofAccount name: String? = nil,
        refusedTo account: String? = nil,
        in window: LoginWindow? = nil,
        hint: Hint
    ) throws(Report) {
        if let window, case .usual = kind, opensBrowser {
            kind = .privateWindow(hasOwnProfile: window == .temporaryProfile)
            if namesBrowser { browser = try chosen(in: surroundings) }
        }
        guard !namesBrowser, opensBrowser else { return }
        guard !isByPortalOnly else { return browser = try chosen(in: surroundings) }
        if let account {
            let message = "the account's browser is a path or a command, which authctl does not start any more"
            let show = Command("account", "show", PlainText.line(account))
            throw .noSuchBrowser(message, hints: [Hint(show), hint])
        }
        if let name { return browser = try chosen(named: name, hint: hint) }
        if let command = surroundings.configuredBrowser {
            return browser = try chosen(in: surroundings.preferring(browser: command, hint: hint))
        }
        browser = try chosen(in: surroundings)
        guard case .usual = kind, let portal = Browser.portal(in: surroundings),
            Browser.named(in: surroundings) == nil
        else { return }
        (fallback, browser) = (browser, portal)
    }

    /// The account's browser, of which only the name came over the wire.
    private func chosen(named name: String, hint: Hint) throws(Report) -> Browser? {
        if KnownBrowser.known(as: name) != nil {
            return try chosen(in: surroundings.preferring(browser: name, hint: hint))
        }
        guard let entry = DesktopEntry(browser: name, in: surroundings) else {
            throw .noSuchBrowser(Self.missing(name), hints: [hint])
        }
        guard case .privateWindow(let hasOwnProfile) = kind else {
            return Browser(name: PlainText.line(entry.name), words: entry.words)
        }
        return try Self.privateWindow(hasOwnProfile: hasOwnProfile, entry: name, surroundings)
    }

    fileprivate static func missing(_ name: String) -> String {
        "the browser '\(PlainText.line(name))' is not installed, or opens no window"
    }

    /// Whether only a private window may open the page.
    var isPrivate: Bool { if case .privateWindow = kind { true } else { false } }

    /// Whether only the portal may open the page.
    var isByPortalOnly: Bool { if case .portal = kind { true } else { false } }

    /// Switches to the browser that replaces the portal.
    mutating func takeFallback() -> Browser? {
        guard let fallback else { return nil }
        (browser, self.fallback) = (fallback, nil)
        return fallback
    }

    private var opensBrowser: Bool {
        switch kind {
        case .usual: place == .desktop && isForDesktop
        case .privateWindow, .portal: true
        case .none: false
        }
    }

    private func chosen(in surroundings: Surroundings) throws(Report) -> Browser? {
        guard opensBrowser else { return nil }
        switch kind {
        case .usual: return Browser.usual(in: surroundings)
        case .privateWindow(let hasOwnProfile):
            return try Self.privateWindow(hasOwnProfile: hasOwnProfile, surroundings)
        case .portal(let parentWindow):
            guard let portal = Browser.portal(in: surroundings, parentWindow: parentWindow) else { throw .noPortal }
            return portal
        case .none: return nil
        }
    }

    /// - Parameter entry: the desktop entry of the account's browser; nil for the person's usual one.
    private static func privateWindow(
        hasOwnProfile: Bool,
        entry: String? = nil,
        _ surroundings: Surroundings
    ) throws(Report) -> Browser {
        let known =
            if let entry {
                try KnownBrowser.forPrivateWindow(entry: entry, in: surroundings)
            } else {
                try KnownBrowser.forPrivateWindow(in: surroundings)
            }
        let profile = hasOwnProfile ? try TemporaryProfile.make(in: surroundings) : nil
        var browser = known.privateWindow(profile: profile?.path)
        browser.profileLock = profile?.lock
        return browser
    }
}

extension Surroundings {
    /// These surroundings with `browser` instead of the one in `BROWSER`.
    ///
    /// - Throws: `noSuchBrowser` with `hint` if it is missing, or needs the terminal.
    fileprivate func preferring(browser: String, hint: Hint) throws(Report) -> Surroundings {
        var named = self
        let environment = environment
        named.environment = { $0 == "BROWSER" ? browser : environment($0) }
        guard Browser.named(in: named) != nil else {
            throw .noSuchBrowser(WindowChoice.missing(browser), hints: [hint])
        }
        return named
    }

    /// `login_browser` of the person's configuration; nil if it is not set.
    fileprivate var configuredBrowser: String? {
        let yaml = settingsFolder.flatMap { text("\($0)/authrefreshd/authrefreshd.yaml") }
        return yaml.flatMap(LoginBrowser.command(inConfiguration:))
    }
}

extension Report {
    static let openPrivateWindow: Hint = "open a private window yourself: --no-open shows the address"

    /// No private window is available. Then nothing is opened, because another window would not be what the person asked for.
    static func noPrivateWindow(_ reason: String, hints: [Hint]) -> Report {
        Report(
            status: .misconfigured,
            name: "authctl.NoPrivateWindow",
            message: "cannot open a private window: \(reason)",
            hints: hints
        )
    }

    /// The named browser is missing, opens no window, or must not be started. Another browser would not be what the user
    /// asked for.
    static func noSuchBrowser(_ message: String, hints: [Hint]) -> Report {
        Report(status: .misconfigured, name: "authctl.NoSuchBrowser", message: message, hints: hints)
    }

    /// Only the desktop's portal may open the page, and there is none.
    static let noPortal = Report(
        status: .misconfigured,
        name: "authctl.NoPortal",
        message: "this desktop has no portal that could open the sign-in page",
        hints: [withoutPortal]
    )

    /// Only the desktop's portal may open the page, and it failed.
    static let portalFailed = Report(
        status: .misconfigured,
        name: "authctl.PortalFailed",
        message: "the desktop portal did not open the sign-in page",
        hints: [
            "'\(Command(program: "journalctl", "--user", "-t", "xdg-desktop-portal"))' may say why", withoutPortal,
        ]
    )

    private static let withoutPortal: Hint = "leave out --portal to open a browser, or use --no-open to see the address"
}
