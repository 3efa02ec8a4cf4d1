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
