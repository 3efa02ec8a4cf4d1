internal import AuthRefreshInterface
internal import Terminal

/// What one `authctl login` is to do, as far as it is known before the daemon is asked.
struct SignInPlan {
    /// What is opened, and whether the user asked for more than a usual window.
    enum Window: Sendable {
        case usual
        case privateWindow(hasOwnProfile: Bool)
        /// By the desktop's portal, or not at all.
        case portal(parentWindow: String?)
        /// The user opens it.
        case none
    }

    let parameters: StartSignIn.Parameters
    /// The account that is signed in; it may be yet to be added.
    var account: String { parameters.newAccount ?? parameters.account }
    /// What is tried in turn until the server takes one of them; nil: what the daemon chooses.
    let flows: [SignInFlow?]
    let place: SignInPlace
    /// Nil: nothing is opened, or the daemon has not said yet which one the account names.
    private(set) var browser: Browser?
    /// Whether standard input is read.
    let takesPaste: Bool
    /// What is opened if the portal, which is asked first, does not answer; nil: nothing.
    private(set) var fallback: Browser?
    private let window: Window
    /// Whether the user named the browser, so that the account's does not count.
    private let namesBrowser: Bool
    private let surroundings: Surroundings

    /// - Parameters:
    ///   - parameters: without the flow.
    ///   - flow: nil: chosen by where the user is.
    ///   - browser: the one that the user names; nil leaves it to the account, and to `chooseBrowser` later.
    /// - Throws: `noPrivateWindow`, `noSuchBrowser`.
    init(
        _ parameters: StartSignIn.Parameters,
        flow: SignInFlow?,
        window: Window,
        browser name: String?,
        takesPaste: Bool,
        in surroundings: Surroundings
    ) throws(AuthctlError) {
        var surroundings = surroundings
        if let name {
            let hint = "name a program in PATH, or its path; --no-open shows the address"
            surroundings = try surroundings.preferring(browser: name, hint: hint)
        }
        place = SignInPlace(surroundings)
        self.takesPaste = takesPaste
        self.window = window
        self.surroundings = surroundings
        namesBrowser = name != nil
        self.parameters = parameters
        let isByPortal = if case .portal = window { true } else { false }
        flows = flow.map { [$0] } ?? (isByPortal ? SignInPlace.desktop : place).flows
        if case .privateWindow = window, place != .desktop { throw .noPrivateWindow(.noDisplay) }
        if namesBrowser { browser = try chosen(in: surroundings) }
    }

    /// Chooses the browser, once the daemon has said which one the account or its configuration names.
    ///
    /// - Parameter configured: nil: neither names one.
    /// - Throws: `noPrivateWindow`, `noSuchBrowser`.
    mutating func chooseBrowser(configured: String?) throws(AuthctlError) {
        guard !namesBrowser, opensBrowser else { return }
        guard let configured, !isByPortalOnly else {
            browser = try chosen(in: surroundings)
            guard case .usual = window, let portal = Browser.portal(in: surroundings),
                Browser.named(in: surroundings) == nil
            else { return }
            (fallback, browser) = (browser, portal)
            return
        }
        let account = PlainText.line(parameters.account)
        let hint = "--browser names another; to change it: authctl account edit \(account) --login-browser PROGRAM"
        browser = try chosen(in: surroundings.preferring(browser: configured, hint: hint))
    }

    /// Whether nothing but the portal may open the page.
    var isByPortalOnly: Bool { if case .portal = window { true } else { false } }

    /// Takes what is opened in the portal's place.
    mutating func takeFallback() -> Browser? {
        guard let fallback else { return nil }
        (browser, self.fallback) = (fallback, nil)
        return fallback
    }

    private var opensBrowser: Bool {
        switch window {
        // Whoever asks for a code wants to type it elsewhere.
        case .usual: place == .desktop && flows != [.device]
        case .privateWindow, .portal: true
        case .none: false
        }
    }

    private func chosen(in surroundings: Surroundings) throws(AuthctlError) -> Browser? {
        guard opensBrowser else { return nil }
        switch window {
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
            return known.privateWindow(profile: profile)
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

/// Where the person is who is to sign in, as far as this process can tell.
enum SignInPlace: Equatable, Sendable {
    /// A browser that is started here is seen by them.
    case desktop
    /// They sit at the other end of SSH: no browser there reaches a loopback port of this machine.
    case remote
    /// Neither: a text console, or a service.
    case noDisplay

    init(_ surroundings: Surroundings) {
        let has = { surroundings.environment($0) != nil }
        if Browser.named(in: surroundings) != nil {
            // Whoever names a browser wants it used. Over SSH it is one that knows the way: editors that work remotely set it so.
            self = .desktop
        } else if has("SSH_CONNECTION") || has("SSH_TTY") {
            // Also with DISPLAY: a browser drawn through SSH is nobody's wish who has one at hand.
            self = .remote
        } else {
            self = has("WAYLAND_DISPLAY") || has("DISPLAY") ? .desktop : .noDisplay
        }
    }

    /// The ways that can be gone from here, best first; nil is what the daemon chooses of those with a browser here.
    ///
    /// What the authorization server and the account's client take, the daemon finds out.
    var flows: [SignInFlow?] {
        switch self {
        case .desktop: [nil, .device]
        case .remote, .noDisplay: [.device, .paste]
        }
    }

    /// Why no browser is opened; nil where one is.
    var reason: String? {
        switch self {
        case .desktop: nil
        case .remote: "this is a session over SSH"
        case .noDisplay: "there is no display here"
        }
    }
}

/// The ways to sign in, as the wire names them.
enum SignInFlow: String, CaseIterable, Sendable {
    /// The browser on this machine is redirected to a loopback port.
    case browser
    /// The browser on this machine is redirected to an address that the desktop hands to `authctl callback`.
    case scheme
    /// A code is typed on a page that any device opens (RFC 8628).
    case device
    /// A browser anywhere; its user brings back the address that it ended on.
    case paste
}
