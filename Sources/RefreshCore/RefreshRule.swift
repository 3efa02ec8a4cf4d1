/// When a fresh access token should be refreshed.
package enum RefreshRule {
    /// The lifetime that we assume if the server states none (RFC 6749 §5.1 leaves it to the server's documentation).
    ///
    /// Most servers use an hour. If the token expires earlier, the program that uses it reports that.
    package static let assumedLifetime = Duration.seconds(3600)

    /// The lifetime that we assume if the server states none and the token cannot be refreshed.
    ///
    /// Servers that issue such tokens (GitHub's classic apps, Slack without rotation, Notion) mean them to last until
    /// they are revoked. We use ten years for such a token.
    package static let endlessLifetime = Duration.seconds(10 * 31_557_600)

    /// An access token with a shorter lifetime counts as short-lived, and is refreshed at half of its lifetime. The
    /// reserve of two minutes would be most of it.
    static let shortLifetime = Duration.seconds(240)

    /// The shortest time between requests for the same token that callers cause.
    package static let shortestInterval = Duration.seconds(1)
    /// The shortest time from one refresh to the next that nobody asked for, whatever the server says. Other clients
    /// loop if their margin exceeds the lifetime.
    static let unaskedInterval = Duration.seconds(2)

    /// The time from issue to refresh.
    ///
    /// It is the first of these that exists: the owner's `leadTime`; the server's `refresh_in`; 2/3 of the lifetime
    /// (half for short-lived tokens). Jitter of ±10 % then spreads the accounts. The result is never later than
    /// `lifetime − max(120 s, 10 %)`, or `lifetime − 10 %` if the owner's lead time or a short lifetime replaces the
    /// two minutes.
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
            // A lead time longer than half the lifetime would refresh forever, so half is the most that we accept.
            wish = max(lifetime - leadTime, lifetime.scaled(by: 0.5))
        } else if let refreshIn, refreshIn > .zero, refreshIn < lifetime {
            wish = refreshIn
        } else {
            wish = lifetime.scaled(by: isShort ? 0.5 : 2.0 / 3.0)
        }
        // An owner's shorter lead time replaces the two minutes but not the tenth: in the last tenth, callers already
        // wait for a newer token.
        let latest = lifetime - (leadTime == nil ? reserve(lifetime: lifetime) : lifetime.scaled(by: 0.1))
        // Limit first and spread then. Otherwise all tokens beyond the limit would be refreshed together.
        let spread = min(wish, latest).scaled(by: 0.9 + 0.2 * jitter)
        return max(min(spread, latest), unaskedInterval)
    }

    /// The part at the end of an access token's lifetime in which a refresh is late.
    static func reserve(lifetime: Duration) -> Duration {
        let tenth = lifetime.scaled(by: 0.1)
        return lifetime < shortLifetime ? tenth : max(.seconds(120), tenth)
    }
}

/// What the owner or the provider profile says about when to refresh; nil leaves it to the rule.
package struct RefreshPolicy: Hashable, Sendable {
    /// Refresh this long before the access token expires, instead of at 2/3 of its lifetime.
    package var leadTime: Duration?
    /// How long the server accepts a refresh token after it was rotated; nil if unknown (treated as zero).
    package var rotationGrace: Duration?
    /// The lifetime of a refresh token at servers that do not state it in their answers; nil if unknown.
    package var refreshTokenLifetime: Duration?
    /// Whether that lifetime counts from the sign-in. Otherwise each use restarts it.
    package var isRefreshTokenLifetimeAbsolute = false
    /// Whether the client gets tokens in its own name (`ServiceGrant`). Then no refresh token is spent, and no person
    /// can help.
    package var isServiceAccount = false
    /// How long after a sign-in the account signs out by itself; nil if it stays signed in.
    package var forgetAfter: Duration?

    /// Nothing is said.
    package static let open = RefreshPolicy()
}

/// How long to wait after a failed refresh.
///
/// | failures in a row | transient | misconfigured |
/// |---|---|---|
/// | 1 | 1 … 2 s | 2 min 30 s … 5 min |
/// | 2 | 2 … 4 s | 5 … 10 min |
/// | 4 | 8 … 16 s | 20 … 40 min |
/// | 8 | 2 min 8 s … 4 min 16 s | 30 min … 1 h |
/// | 9 and more | 2 min 30 s … 5 min | 30 min … 1 h |
///
/// An account during whose requests the daemon has crashed more than once waits like a misconfigured one.
///
/// A 429 that states no time (RFC 6585 §4) waits like a transient failure, but at least two seconds, and callers cannot
/// shorten that.
package enum BackOffRule {
    /// How long an outage may still affect a user after it has ended.
    package static let longestTransient = Duration.seconds(300)
    /// A person corrects a misconfiguration and then asks for a refresh. The hourly retry is for servers that recover
    /// by themselves.
    package static let longestMisconfigured = Duration.seconds(3600)
    /// A `Retry-After` beyond an hour is more often a mistake than a wish. MSAL uses the same limit.
    package static let longestRetryAfter = Duration.seconds(3600)
    /// The pause before a refusal is believed. It is long enough for a server to restart, and short enough for a grace
    /// period.
    static let confirmation = Duration.seconds(30)
    /// The shortest such pause. A shorter one would only get the same answer again.
    static let shortestConfirmation = Duration.milliseconds(250)
    /// The shortest wait after a failure. Without a minimum, a script in a loop would flood a server that is down.
    package static let callerInterval = Duration.seconds(2)
    /// What callers in a loop may shorten every wait to, however long an outage lasts.
    static let longestForCallers = Duration.seconds(60)

    /// How many equal refusals without a reason are needed before they are believed.
    static let refusalsToBelieve = 3
    /// How often the daemon tries an account that needs a person only because the server gave no reason.
    static let hopefulInterval = Duration.seconds(3600)
    /// How often callers may cause an attempt for an account that needs a person because the server gave no reason.
    static let callersHopefulInterval = Duration.seconds(300)
    /// How often callers may cause an attempt for an account whose grant has ended. Some servers say so by mistake, and
    /// only their next answer can correct it.
    static let callersLastInterval = Duration.seconds(3600)

    /// How long after the server has issued a refresh token its refusal is confirmed. Replicas lag for seconds; with
    /// a broken link between them, for minutes.
    static let replicaLag = Duration.seconds(300)

    /// How long equal refusals of what the server has accepted before must go on until they are believed.
    ///
    /// Ten minutes outlast a restart and a bad deployment. What looks like a wrong setting, and a 401 without a word,
    /// which is about the client's credentials (RFC 9110 §15.5.2), last for an hour: until somebody has mended the
    /// server's configuration. A firewall's block lasts for hours.
    static func disbelief(of failure: RefreshFailure) -> Duration {
        if failure.failureClass == .refusedByGateway { return .seconds(86_400) }
        let isBareChallenge = failure.detail.httpStatus == 401 && failure.detail.oauthError == nil
        return failure.failureClass.isMisconfiguration || isBareChallenge ? .seconds(3600) : .seconds(600)
    }

    /// How long callers who ask for the same token target get the server's last refusal again, without a new request.
    ///
    /// A refusal stays until a person changes something and then forces a request. A minute limits what a script in a
    /// loop costs.
    package static func targetRefusal(after failure: RefreshFailure) -> Duration {
        failure.failureClass.isAnswer ? .seconds(60) : callerInterval
    }

    /// The wait after `failures` (1 or more) transient failures in a row. Half of it is random, by `jitter` (0..<1).
    static func transient(failures: Int, jitter: Double) -> Duration {
        doubled(.seconds(2), failures: failures, longest: longestTransient).scaled(by: 0.5 + 0.5 * jitter)
    }

    /// What a waiting caller may shorten the wait to after `failures` failures in a row: two seconds after the first
    /// three of them, then each time twice as long. Otherwise one program that asks every second would set the back-off
    /// aside for hours.
    static func forCallers(failures: Int) -> Duration {
        doubled(callerInterval, failures: failures - 2, longest: longestForCallers)
    }

    /// The wait after `failures` (1 or more) refusals that only a person can correct.
    static func misconfigured(failures: Int, jitter: Double) -> Duration {
        doubled(.seconds(300), failures: failures, longest: longestMisconfigured).scaled(by: 0.5 + 0.5 * jitter)
    }

    /// The server's wish, limited, plus up to 10 % so that its clients do not return together.
    static func retryAfter(_ wish: Duration, jitter: Double) -> Duration {
        min(wish, longestRetryAfter).scaled(by: 1 + 0.1 * jitter)
    }

    /// The pause before asking again whether a refusal is meant.
    ///
    /// It is at most a twentieth of the access token's `lifetime`, no more than the jitter of a refresh, so that a
    /// revocation is reported within one refresh period. With ten minutes or more, as all real servers use, it is the
    /// whole pause. It also stays within the time for which the server accepts a rotated token, if that is known.
    static func confirmation(lifetime: Duration?, grace: Duration? = nil) -> Duration {
        let longest = [lifetime?.scaled(by: 0.05), grace?.scaled(by: 0.5)].compactMap(\.self).min() ?? confirmation
        return max(min(confirmation, longest), shortestConfirmation)
    }

    private static func doubled(_ first: Duration, failures: Int, longest: Duration) -> Duration {
        // 2¹⁶ times the first wait exceeds both limits.
        min(first.scaled(by: Double(1 << min(max(failures - 1, 0), 16))), longest)
    }
}
