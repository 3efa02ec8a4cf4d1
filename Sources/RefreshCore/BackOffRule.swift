/// How long to wait after a refresh that failed.
///
/// | failures in a row | transient | misconfigured |
/// |---|---|---|
/// | 1 | 1 … 2 s | 2 min 30 s … 5 min |
/// | 2 | 2 … 4 s | 5 … 10 min |
/// | 4 | 8 … 16 s | 20 … 40 min |
/// | 8 | 2 min 8 s … 4 min 16 s | 30 min … 1 h |
/// | 9 and more | 2 min 30 s … 5 min | 30 min … 1 h |
///
/// A 429 that names no time (RFC 6585 §4) waits like a transient failure, at least two seconds, and callers do not shorten that.
package enum BackOffRule {
    /// Five minutes is what an outage may cost a user after it has ended.
    package static let longestTransient = Duration.seconds(300)
    /// What is misconfigured is mended by a person, who then asks for a refresh; an hour is for servers that mend themselves.
    package static let longestMisconfigured = Duration.seconds(3600)
    /// A `Retry-After` beyond an hour is a mistake more often than a wish; MSAL stops at the same figure.
    package static let longestRetryAfter = Duration.seconds(3600)
    /// The pause before a refusal is believed: long enough for a server to finish its restart, short enough for a grace period.
    static let confirmation = Duration.seconds(30)
    /// Less would ask the same question twice of the same moment.
    static let shortestConfirmation = Duration.milliseconds(250)
    /// What a waiting caller may shorten a back-off to; without it a script in a loop would hammer a server that is down.
    package static let callerInterval = Duration.seconds(2)

    /// How often the same refusal without a reason has to be given before it is believed.
    static let refusalsToBelieve = 3
    /// How often an account is tried that needs a person only because the server gave no reason.
    static let hopefulInterval = Duration.seconds(3600)
    /// How often callers may have an account tried that needs a person because the server gave no reason.
    static let callersHopefulInterval = Duration.seconds(300)
    /// How often callers may have an account tried whose grant has ended: some servers say so when they do not mean it, and the next
    /// answer is the only one that can take it back.
    static let callersLastInterval = Duration.seconds(3600)

    /// For how long the same refusal without a reason has to be given before it is believed.
    ///
    /// Ten minutes outlast a restart and a bad deployment; a firewall's block lasts for hours.
    static func disbelief(of failureClass: FailureClass) -> Duration {
        failureClass == .refusedByGateway ? .seconds(86_400) : .seconds(600)
    }

    /// How long callers who ask for a token set again are told what the server said of it, without asking it anew.
    ///
    /// What was refused stays refused until a person changes something, who then forces it; a minute is what a script in a loop costs.
    package static func tokenSet(after failure: RefreshFailure) -> Duration {
        switch failure.failureClass {
        case .unreachable, .unanswered, .unavailable, .untrusted: callerInterval
        case .misconfigured, .rejected, .refusedByGateway, .grantEnded, .userRequired: .seconds(60)
        }
    }

    /// The wait after `failures` (1 or more) transient failures in a row; half of it is drawn by `jitter` (0..<1).
    static func transient(failures: Int, jitter: Double) -> Duration {
        doubled(.seconds(2), failures: failures, longest: longestTransient).scaled(by: 0.5 + 0.5 * jitter)
    }

    /// The wait after `failures` (1 or more) refusals that only a person can mend.
    static func misconfigured(failures: Int, jitter: Double) -> Duration {
        doubled(.seconds(300), failures: failures, longest: longestMisconfigured).scaled(by: 0.5 + 0.5 * jitter)
    }

    /// The server's wish, capped, with up to 10 % on top so that its clients do not return together.
    static func retryAfter(_ wish: Duration, jitter: Double) -> Duration {
        min(wish, longestRetryAfter).scaled(by: 1 + 0.1 * jitter)
    }

    /// The pause before asking again whether a refusal is meant.
    ///
    /// At most a twentieth of `lifetime`, the access token's: no more than what the jitter of a refresh moves it, so that a
    /// revocation is told within one refresh period whatever the token's life; from ten minutes on, which is all that real
    /// servers issue, the whole pause. And within the time for which the server still takes a rotated token, if that is known.
    static func confirmation(lifetime: Duration?, grace: Duration? = nil) -> Duration {
        let longest = [lifetime?.scaled(by: 0.05), grace?.scaled(by: 0.5)].compactMap(\.self).min() ?? confirmation
        return max(min(confirmation, longest), shortestConfirmation)
    }

    private static func doubled(_ first: Duration, failures: Int, longest: Duration) -> Duration {
        // 2¹⁶ times the first wait is past either cap.
        min(first.scaled(by: Double(1 << min(max(failures - 1, 0), 16))), longest)
    }
}
