internal import AuthRefreshInterface

/// What one `authctl login` is to do, as far as it is known before the daemon is asked.
struct SignInPlan {
    /// What is opened, and whether the user asked for more than a usual window.
    enum Window: Sendable {
        case usual
        case privateWindow(hasOwnProfile: Bool)
        /// The user opens it.
        case none
    }

    let parameters: StartSignIn.Parameters
    /// What is tried in turn until the server takes one of them; nil: what the daemon chooses.
    let flows: [SignInFlow?]
    let place: SignInPlace
    /// Nil: nothing is opened.
    let browser: Browser?
    /// Whether standard input is read.
    let takesPaste: Bool

    /// - Parameters:
    ///   - parameters: without the flow.
    ///   - flow: nil: chosen by where the user is.
    /// - Throws: `noPrivateWindow`.
    init(
        _ parameters: StartSignIn.Parameters,
        flow: SignInFlow?,
        window: Window,
        takesPaste: Bool,
        in surroundings: Surroundings
    ) throws(AuthctlError) {
        let place = SignInPlace(surroundings)
        self.place = place
        self.takesPaste = takesPaste
        switch window {
        // Whoever asks for a code wants to type it elsewhere.
        case .usual: browser = place == .desktop && flow != .device ? Browser.usual(in: surroundings) : nil
        case .privateWindow(let hasOwnProfile):
            browser = try Self.privateWindow(hasOwnProfile: hasOwnProfile, place, surroundings)
        case .none: browser = nil
        }
        self.parameters = parameters
        flows = flow.map { [$0] } ?? place.flows
    }

    private static func privateWindow(
        hasOwnProfile: Bool,
        _ place: SignInPlace,
        _ surroundings: Surroundings
    ) throws(AuthctlError) -> Browser {
        do throws(PrivateWindowRefusal) {
            guard place == .desktop else { throw .noDisplay }
            let known = try KnownBrowser.forPrivateWindow(in: surroundings)
            let profile = hasOwnProfile ? try TemporaryProfile.make(in: surroundings) : nil
            return known.privateWindow(profile: profile)
        } catch {
            throw .noPrivateWindow(error)
        }
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
