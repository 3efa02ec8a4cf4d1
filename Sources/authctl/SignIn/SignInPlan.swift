internal import AuthRefreshInterface

/// The plan of one `authctl login`, as far as it is known before the daemon is called.
struct SignInPlan {
    let parameters: StartSignIn.Parameters
    /// The account to sign in to. It may not exist yet.
    var account: String { parameters.newAccount ?? parameters.account }
    /// The flows to try in this order until the server accepts one; nil lets the daemon choose.
    let flows: [SignInFlow?]
    let window: WindowChoice
    /// Whether standard input is read.
    let takesPaste: Bool

    /// Makes a plan.
    ///
    /// - Parameters:
    ///   - parameters: without the flow.
    ///   - flow: nil chooses by where the user is.
    ///   - browser: the browser that the user named; nil uses the account's.
    /// - Throws: `noPrivateWindow`, `noPortal`, `noSuchBrowser`.
    init(
        _ parameters: StartSignIn.Parameters,
        flow: SignInFlow?,
        window kind: WindowChoice.Kind,
        browser: String?,
        takesPaste: Bool,
        in surroundings: Surroundings
    ) throws(Report) {
        // A user who asks for a code wants to enter it elsewhere.
        window = try WindowChoice(kind, browser: browser, isForDesktop: flow != .device, in: surroundings)
        self.takesPaste = takesPaste
        self.parameters = parameters
        flows = flow.map { [$0] } ?? (window.isByPortalOnly ? SignInPlace.desktop : window.place).flows
    }
}

/// Where the person is who signs in, as far as this process can tell.
enum SignInPlace: Equatable, Sendable {
    /// They see a browser that is started here.
    case desktop
    /// They are at the other end of SSH, where a browser cannot reach a loopback port of this machine.
    case remote
    /// There is no display: a text console, or a service.
    case noDisplay

    init(_ surroundings: Surroundings) {
        let has = { surroundings.environment($0) != nil }
        if Browser.named(in: surroundings) != nil {
            // A user who names a browser wants it to be used. Over SSH, it is one that can reach the user: remote
            // editors set the variable like that.
            self = .desktop
        } else if has("SSH_CONNECTION") || has("SSH_TTY") {
            // This also applies if DISPLAY is set, because a person with a browser of their own does not want one that
            // is drawn through SSH.
            self = .remote
        } else {
            let isDesktop = has("WAYLAND_DISPLAY") || has("DISPLAY") || Browser.ofWindows(in: surroundings) != nil
            self = isDesktop ? .desktop : .noDisplay
        }
    }

    /// The flows that are possible here, the best first; nil lets the daemon choose a flow with a browser here.
    ///
    /// The daemon finds out what the authorization server and the account's client support.
    var flows: [SignInFlow?] {
        switch self {
        case .desktop: [nil, .device]
        case .remote, .noDisplay: [.device, .paste]
        }
    }
}

/// The sign-in flows, by their wire names.
enum SignInFlow: String, CaseIterable, Sendable {
    /// The browser on this machine is redirected to a loopback port.
    case browser
    /// The browser on this machine is redirected to an address that the desktop passes to `authctl callback`.
    case scheme
    /// The user enters a code on a page that any device can open (RFC 8628).
    case device
    /// The user pastes the address on which a browser ended, on any machine.
    case paste
}
