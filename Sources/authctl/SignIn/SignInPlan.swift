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
