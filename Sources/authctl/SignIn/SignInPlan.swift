internal import AuthRefreshInterface
internal import Terminal

/// What one `authctl login` is to do, as far as it is known before the daemon is asked.
struct SignInPlan {
    let parameters: StartSignIn.Parameters
    /// The account that is signed in; it may be yet to be added.
    var account: String { parameters.newAccount ?? parameters.account }
    /// What is tried in turn until the server takes one of them; nil: what the daemon chooses.
    let flows: [SignInFlow?]
    let window: WindowChoice
    /// Whether standard input is read.
    let takesPaste: Bool

    /// - Parameters:
    ///   - parameters: without the flow.
    ///   - flow: nil: chosen by where the user is.
    ///   - browser: the one that the user names; nil leaves it to the account.
    /// - Throws: `noPrivateWindow`, `noPortal`, `noSuchBrowser`.
    init(
        _ parameters: StartSignIn.Parameters,
        flow: SignInFlow?,
        window kind: WindowChoice.Kind,
        browser: String?,
        takesPaste: Bool,
        in surroundings: Surroundings
    ) throws(AuthctlError) {
        // Whoever asks for a code wants to type it elsewhere.
        window = try WindowChoice(kind, browser: browser, isForDesktop: flow != .device, in: surroundings)
        self.takesPaste = takesPaste
        self.parameters = parameters
        flows = flow.map { [$0] } ?? (window.isByPortalOnly ? SignInPlace.desktop : window.place).flows
    }

    /// What helps if the browser that the account names is not there.
    var browserHint: String {
        let account = PlainText.line(parameters.account)
        return "for this time: --browser PROGRAM; for good: authctl account edit \(account) --login-browser PROGRAM"
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
