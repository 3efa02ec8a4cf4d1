/// When a fresh access token should be refreshed.
package enum RefreshRule {
    /// What a token is taken to live if the server does not say (RFC 6749 §5.1 leaves it to its documentation): an hour is what
    /// most servers use, and a token that dies earlier is reported by its user.
    package static let assumedLifetime = Duration.seconds(3600)

    /// What a token is taken to live if the server says neither when it ends nor how to get another: servers that issue such tokens
    /// (GitHub's classic apps, Slack's without rotation, Notion) mean them to last until they are revoked. Ten years stand for that.
    package static let endlessLifetime = Duration.seconds(10 * 31_557_600)

    /// Below this an access token is short-lived, and refreshed at half of its life: the two minutes that longer ones keep in
    /// reserve would be most of it.
    static let shortLifetime = Duration.seconds(240)

    /// No account asks more often than this, whatever its server says: a margin longer than the lifetime makes other clients spin.
    package static let shortestInterval = Duration.seconds(1)

    /// The time from issue to refresh.
    ///
    /// In this order: the owner's `leadTime`, the server's `refresh_in`, 2/3 of the lifetime (half for short-lived tokens); then
    /// ±10 % jitter, so that accounts drift apart; never later than `lifetime − max(120 s, 10 %)`, or than `lifetime − 10 %` where
    /// the owner or a short life has the two minutes shortened.
    ///
    /// | lifetime | without jitter | range | latest |
    /// |---|---|---|---|
    /// | 20 s | 10 s | 9…11 s | 18 s |
    /// | 5 min | 3 min | 2 min 42 s … 3 min | 3 min |
    /// | 1 h | 40 min | 36 … 44 min | 54 min |
    /// | 24 h | 16 h | 14 h 24 min … 17 h 36 min | 21 h 36 min |
    ///
    /// - Parameters:
    ///   - lifetime: longer than zero.
    ///   - jitter: 0..<1, drawn by the caller.
    package static func refreshAfter(
        lifetime: Duration,
        refreshIn: Duration?,
        leadTime: Duration?,
        jitter: Double
    ) -> Duration {
        let isShort = lifetime < shortLifetime
        let wish: Duration
        if let leadTime {
            // A lead longer than half the lifetime would refresh for ever: half is the most that can be meant.
            wish = max(lifetime - leadTime, lifetime.scaled(by: 0.5))
        } else if let refreshIn, refreshIn > .zero, refreshIn < lifetime {
            wish = refreshIn
        } else {
            wish = lifetime.scaled(by: isShort ? 0.5 : 2.0 / 3.0)
        }
        // An owner's shorter lead time replaces the two minutes, but not the tenth: in it callers already wait for a newer token.
        let latest = lifetime - (leadTime == nil ? reserve(lifetime: lifetime) : lifetime.scaled(by: 0.1))
        // Cut before it is spread, or all tokens whose wish lies past the latest time would be refreshed together.
        let spread = min(wish, latest).scaled(by: 0.9 + 0.2 * jitter)
        return max(min(spread, latest), shortestInterval)
    }

    /// The part at the end of an access token's life in which a refresh is late.
    static func reserve(lifetime: Duration) -> Duration {
        let tenth = lifetime.scaled(by: 0.1)
        return lifetime < shortLifetime ? tenth : max(.seconds(120), tenth)
    }
}

/// What an account's owner or provider profile says about when to refresh; nil leaves it to the rule.
package struct RefreshPolicy: Hashable, Sendable {
    /// Refresh this long before the access token ends, instead of at 2/3 of its lifetime.
    package var leadTime: Duration?
    /// How long the server still takes a refresh token after it was rotated; nil if unknown (taken as none).
    package var rotationGrace: Duration?
    /// How long a refresh token lives, for servers that do not say it in their answers; nil if unknown.
    package var refreshTokenLifetime: Duration?
    /// Whether that is counted from the sign-in, whatever is done meanwhile; otherwise each use starts it again.
    package var isRefreshTokenLifetimeAbsolute: Bool
    /// Whether the client obtains tokens for itself (`ServiceGrant`): nothing is spent by that, and no person could help.
    package var isServiceAccount: Bool
    /// How long after a sign-in the account signs out by itself; nil if it stays signed in.
    package var forgetAfter: Duration?

    package init(
        leadTime: Duration? = nil,
        rotationGrace: Duration? = nil,
        refreshTokenLifetime: Duration? = nil,
        isRefreshTokenLifetimeAbsolute: Bool = false,
        isServiceAccount: Bool = false,
        forgetAfter: Duration? = nil
    ) {
        self.leadTime = leadTime
        self.rotationGrace = rotationGrace
        self.refreshTokenLifetime = refreshTokenLifetime
        self.isRefreshTokenLifetimeAbsolute = isRefreshTokenLifetimeAbsolute
        self.isServiceAccount = isServiceAccount
        self.forgetAfter = forgetAfter
    }
}

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

    /// How long callers who ask for a token target again are told what the server said of it, without asking it anew.
    ///
    /// What was refused stays refused until a person changes something, who then forces it; a minute is what a script in a loop costs.
    package static func targetRefusal(after failure: RefreshFailure) -> Duration {
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
