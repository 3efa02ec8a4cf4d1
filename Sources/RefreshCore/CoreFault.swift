/// Why an answer is not enough, as far as the core decides that.
enum CoreFault: Hashable, CaseIterable {
    case outcomeLost
    case crashed
    /// The grant has no refresh token, and its access token has expired.
    case noRefreshToken
    /// The grant has no refresh token, and a token of a target is wanted.
    case noRefreshTokenForTarget

    /// Lower case, no full stop.
    var summary: String {
        switch self {
        case .outcomeLost: "the daemon stopped before the server's answer was stored"
        case .crashed: "the daemon crashed while it waited for the server's answer"
        case .noRefreshToken:
            "the server gave no refresh token, so a sign-in is needed once the access token has expired"
        case .noRefreshTokenForTarget: "the server gave no refresh token, so a sign-in is needed for another token"
        }
    }
}
