/// What is known about the end of a refresh token.
package struct RefreshTokenTimes: Hashable, Sendable {
    /// When the server said so.
    package var issuedAt: Moment
    /// From `issuedAt` to the end.
    package var lifetime: Duration
    /// Whether using the token moves its end: true for an idle time-out, false for an absolute end, nil until a refresh has shown it.
    package var isExtendedByUse: Bool?
    /// Whether the coming end has been announced.
    package var isEndAnnounced: Bool

    package init(issuedAt: Moment, lifetime: Duration, isExtendedByUse: Bool? = nil, isEndAnnounced: Bool = false) {
        self.issuedAt = issuedAt
        self.lifetime = lifetime
        self.isExtendedByUse = isExtendedByUse
        self.isEndAnnounced = isEndAnnounced
    }

    package var expiresAt: Timestamp { issuedAt.wall + lifetime }

    /// How long until the token should be used, so that it does not die of idleness; nil if using it does not help.
    ///
    /// Half of its life leaves the other half for an outage, a holiday or a laptop in a bag.
    func timeToKeepAlive(at now: Moment) -> Duration? {
        guard isExtendedByUse != false else { return nil }
        let idle = max(lifetime.scaled(by: 0.5), RefreshRule.shortestInterval)
        return max(idle - now.longestElapsed(since: issuedAt), .zero)
    }

    /// How long until people should be told that the end is near; nil while it is not known to be final.
    ///
    /// A week is enough for anyone who is not away; a short-lived token is announced for its last quarter.
    func timeToAnnouncement(at now: Moment) -> Duration? {
        guard isExtendedByUse == false else { return nil }
        let notice = min(.seconds(7 * 86_400), lifetime.scaled(by: 0.25))
        return max(lifetime - notice - now.longestElapsed(since: issuedAt), .zero)
    }

    /// Whether the end is final and near at `now`.
    package func isExpiring(at now: Moment) -> Bool {
        timeToAnnouncement(at: now) == .zero
    }

    /// The times after the server has named a lifetime of `lifetime` in the answer to a request sent at `now`.
    func renewed(lifetime newLifetime: Duration, at now: Moment) -> RefreshTokenTimes {
        let age = now.elapsed(since: issuedAt)
        let movedBy = newLifetime - (lifetime - age)
        // A use moves an idle time-out by the token's age, an absolute end not at all. Servers count in whole seconds and answers
        // travel: below four seconds the two cannot be told apart.
        let tolerance = max(.seconds(4), age.scaled(by: 0.5))
        let isExtended = age > .seconds(4) ? movedBy > tolerance : isExtendedByUse
        if isExtended == false, movedBy > .zero - tolerance {
            // The same end as before: the life it is a part of stays the whole one, or the announcement would recede with it.
            var times = self
            times.isExtendedByUse = false
            return times
        }
        return RefreshTokenTimes(
            issuedAt: now,
            lifetime: newLifetime,
            isExtendedByUse: isExtended
        )
    }

    /// The times after a use at `now` in whose answer the server named no lifetime and no new token.
    ///
    /// An end that was named once, when the token was issued, is the token's own; only if a use has moved it before, it moves again.
    func used(at now: Moment) -> RefreshTokenTimes {
        var times = self
        if isExtendedByUse == true {
            times.issuedAt = now
        } else {
            times.isExtendedByUse = false
        }
        return times
    }
}
