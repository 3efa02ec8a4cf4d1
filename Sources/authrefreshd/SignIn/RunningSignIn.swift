internal import AuthRefreshInterface
internal import OAuthClient
internal import RedirectListener
internal import RefreshCore
internal import SignIn

/// A sign-in that is under way. It is kept in memory only: its secrets are worth nothing after a restart.
struct RunningSignIn {
    /// What somebody who follows is told.
    enum Report: Sendable {
        case news(StartSignIn.Reply)
        /// The last, with where the account stands.
        case completed(StartSignIn.Reply)
        /// The last, if there are no tokens.
        case ended(SignInEnd)
    }

    typealias Follower = @Sendable (Report) -> Void

    /// Names it on the wire: 128 random bits, and not the `state`, so that it may be seen.
    let id = RandomText.text(characters: 22)
    /// As it was at the beginning; a change of what matters ends the sign-in.
    let account: Account
    let request: SignInRequest
    var attempt: SignInAttempt
    let secrets = SignInSecrets()
    let correlationID = RefreshCoordinator.newCorrelationID()

    /// Everything that was told, for those who come later: at most one of each kind.
    var news: [StartSignIn.Reply] = []
    var followers: [Int: Follower] = [:]
    /// Browsers that wait for their page; no more than the listener has connections.
    var pages: [@Sendable (RedirectPage) -> Void] = []
    var listener: RedirectListener?
    /// Where the server sends the browser back to; nil until that is known, and with a device.
    var redirectURI: String?
    var invitation: Invitation?
    /// What came with the code.
    var keptFields: [String: String] = [:]
    /// The tokens, until they are stored.
    var grant: Arrival?

    /// What the person is shown.
    struct Invitation {
        var url: String
        var host: String
        var device: DeviceAuthorization?
    }

    var flow: SignInFlow { attempt.plan.flow }

    /// What is told of `news` at `now`.
    func reply(_ news: SignInNews, at now: Moment) -> StartSignIn.Reply {
        var reply = StartSignIn.Reply(
            event: news.rawValue,
            attempt: id,
            flow: flow.rawValue,
            atUSec: now.wall.microseconds,
            expiresAtUSec: attempt.expiresAt(at: now).microseconds
        )
        guard news == .started else { return reply }
        reply.url = invitation?.url
        reply.host = invitation?.host
        reply.redirectUri = redirectURI
        reply.userCode = invitation?.device?.userCode
        reply.verificationUriComplete = invitation?.device?.verificationURIComplete
        return reply
    }
}
