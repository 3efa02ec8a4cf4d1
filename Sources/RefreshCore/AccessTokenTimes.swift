/// When an access token was issued, how long it lives, and when it should be refreshed.
package struct AccessTokenTimes: Hashable, Sendable {
    /// When the request that brought it was sent: the server cannot have issued it earlier.
    package var issuedAt: Moment
    /// From `issuedAt` to its end (`expires_in`, RFC 6749 §5.1).
    package var lifetime: Duration
    /// From `issuedAt` to the time at which a refresh is due.
    package var refreshAfter: Duration

    package init(issuedAt: Moment, lifetime: Duration, refreshAfter: Duration) {
        self.issuedAt = issuedAt
        self.lifetime = lifetime
        self.refreshAfter = refreshAfter
    }

    /// The end on the wall clock as it stands at `now`, for people and other programs.
    ///
    /// The same instant at every call, unless the wall clock was stepped since the token was issued.
    package func expiresAt(at now: Moment) -> Timestamp {
        let planned = issuedAt.wall + lifetime
        let actual = now.wall + (lifetime - now.elapsed(since: issuedAt))
        let isStepped = max(planned - actual, actual - planned) > .seconds(1)
        return isStepped ? actual : planned
    }

    /// What is left of it at `now`; zero once it has ended.
    package func remaining(at now: Moment) -> Duration {
        max(lifetime - now.elapsed(since: issuedAt), .zero)
    }

    /// Whether a refresh is due by either clock.
    ///
    /// The clocks disagree after a step of the wall clock, or when a virtual machine was paused: which of them is right cannot
    /// be known, and an early refresh costs less than a dead token. A token from the future is one of a stepped clock.
    package func isDue(at now: Moment) -> Bool {
        timeToRefresh(at: now) == .zero
    }

    /// How long it is until a refresh is due; zero if it is.
    func timeToRefresh(at now: Moment) -> Duration {
        let isSameBoot = now.boot.bootID == issuedAt.boot.bootID
        guard isSameBoot || now.wall >= issuedAt.wall else { return .zero }
        return max(refreshAfter - now.longestElapsed(since: issuedAt), .zero)
    }
}
