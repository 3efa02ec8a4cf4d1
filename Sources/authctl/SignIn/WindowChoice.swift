internal import Terminal

/// Which browser shows a page to the person, and in what kind of window.
struct WindowChoice: Sendable {
    /// What is opened, and whether the user asked for more than a usual window.
    enum Kind: Sendable {
        case usual
        case privateWindow(hasOwnProfile: Bool)
        /// By the desktop's portal, or not at all.
        case portal(parentWindow: String?)
        /// The user opens it.
        case none
    }

    let place: SignInPlace
    /// Nil: nothing is opened, or it is not known yet which one the account names.
    private(set) var browser: Browser?
    /// What is opened if the portal, which is asked first, does not answer; nil: nothing.
    private(set) var fallback: Browser?
    private let kind: Kind
    /// Whether the page is for this desktop if nobody says where it is to be opened.
    private let isForDesktop: Bool
    /// Whether the user named the browser, so that the account's does not count.
    private let namesBrowser: Bool
    private let surroundings: Surroundings

    /// - Parameters:
    ///   - name: the browser that the user names; nil leaves it to the account, and to `chooseBrowser` later.
    ///   - isForDesktop: false: a usual window is not opened, because the page is wanted on another device.
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

    /// Chooses the browser, once the daemon has said which one the account or its configuration names.
    ///
    /// - Parameters:
    ///   - configured: nil: neither names one.
    ///   - hint: what helps if that one is not there.
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

    /// Whether nothing but the portal may open the page.
    var isByPortalOnly: Bool { if case .portal = kind { true } else { false } }

    /// Takes what is opened in the portal's place.
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
    /// The same with `browser` in place of the one that `BROWSER` names.
    ///
    /// - Throws: `noSuchBrowser` with `hint` if it is not there, or needs the terminal.
    fileprivate func preferring(browser: String, hint: String) throws(AuthctlError) -> Surroundings {
        var named = self
        let environment = environment
        named.environment = { $0 == "BROWSER" ? browser : environment($0) }
        guard Browser.named(in: named) != nil else { throw .noSuchBrowser(name: browser, hint: hint) }
        return named
    }
}
