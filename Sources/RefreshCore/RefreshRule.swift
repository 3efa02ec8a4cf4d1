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
