internal import Terminal

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
    private let kind: Kind
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
    ) throws(AuthctlError) {
        var surroundings = surroundings
        if let name {
            let hint = "name a program in PATH, or its path; or see the address: --no-open"
            surroundings = try surroundings.preferring(browser: name, hint: hint)
        }
        place = SignInPlace(surroundings)
        self.kind = kind
        self.isForDesktop = isForDesktop
        self.surroundings = surroundings
        namesBrowser = name != nil
        if case .privateWindow = kind, place != .desktop { throw .noPrivateWindow(.noDisplay) }
        if namesBrowser { browser = try chosen(in: surroundings) }
    }

    /// Chooses the browser after the daemon has named the account's or the configured one.
    ///
    /// - Parameters:
    ///   - configured: the named browser; nil if there is none.
    ///   - hint: the hint if that browser is missing.
    /// - Throws: `noPrivateWindow`, `noPortal`, `noSuchBrowser`.
    mutating func chooseBrowser(configured: String? = nil, hint: String = "") throws(AuthctlError) {
        guard !namesBrowser, opensBrowser else { return }
        guard let configured, !isByPortalOnly else {
            browser = try chosen(in: surroundings)
            guard case .usual = kind, let portal = Browser.portal(in: surroundings),
                Browser.named(in: surroundings) == nil
            else { return }
            (fallback, browser) = (browser, portal)
            return
        }
        browser = try chosen(in: surroundings.preferring(browser: configured, hint: hint))
    }

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

    private func chosen(in surroundings: Surroundings) throws(AuthctlError) -> Browser? {
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

    private static func privateWindow(
        hasOwnProfile: Bool,
        _ surroundings: Surroundings
    ) throws(AuthctlError) -> Browser {
        do throws(PrivateWindowRefusal) {
            let known = try KnownBrowser.forPrivateWindow(in: surroundings)
            let profile = hasOwnProfile ? try TemporaryProfile.make(in: surroundings) : nil
            var browser = known.privateWindow(profile: profile?.path)
            browser.profileLock = profile?.lock
            return browser
        } catch {
            throw .noPrivateWindow(error)
        }
    }
}

extension Surroundings {
    /// These surroundings with `browser` instead of the one in `BROWSER`.
    ///
    /// - Throws: `noSuchBrowser` with `hint` if it is missing, or needs the terminal.
    fileprivate func preferring(browser: String, hint: String) throws(AuthctlError) -> Surroundings {
        var named = self
        let environment = environment
        named.environment = { $0 == "BROWSER" ? browser : environment($0) }
        guard Browser.named(in: named) != nil else { throw .noSuchBrowser(name: browser, hint: hint) }
        return named
    }
}
