/// When an access token was issued, how long it lives, and when it should be refreshed.
package struct AccessTokenTimes: Hashable, Sendable {
    /// When the request that brought it was sent: the server cannot have issued it earlier.
    package var issuedAt: Moment
    /// From `issuedAt` to its end (`expires_in`, RFC 6749 §5.1).
    package var lifetime: Duration
    /// From `issuedAt` to the time at which a refresh is due.
    package var refreshAfter: Duration
    /// What `lifetime` rests on.
    package var basis: LifetimeBasis

    package init(issuedAt: Moment, lifetime: Duration, refreshAfter: Duration, basis: LifetimeBasis = .stated) {
        self.issuedAt = issuedAt
        self.lifetime = lifetime
        self.refreshAfter = refreshAfter
        self.basis = basis
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

    /// Whether it is good enough at `now` for a caller that needs `minimumValidity`.
    ///
    /// A caller that names nothing gets a token that outlives the request it is for: half a minute, or a tenth of a life that is
    /// shorter than five minutes. One that wants more than the server ever gives gets a token in the first tenth of its life: asking
    /// the server at every call would not make it live longer.
    package func suffices(for minimumValidity: Duration?, at now: Moment) -> Bool {
        let remaining = remaining(at: now)
        let wanted = minimumValidity ?? min(.seconds(30), lifetime.scaled(by: 0.1))
        return remaining > .zero && remaining >= min(wanted, lifetime.scaled(by: 0.9))
    }

    /// Whether it is `other`, issued before, with what is left of its life, or one that ends with it: no other can be had earlier.
    ///
    /// Servers count in whole seconds, and their answers travel. What has lost less than a tenth tells a new token from an old one no more.
    func endsWith(_ other: AccessTokenTimes, at now: Moment) -> Bool {
        let (own, others) = (
            lifetime - now.elapsed(since: issuedAt), other.lifetime - now.elapsed(since: other.issuedAt)
        )
        return basis == .stated && other.basis == .stated && lifetime <= other.lifetime.scaled(by: 0.9)
            && max(own - others, others - own) <= .seconds(3)
    }

    /// Whether a resource server's complaint that names no token is taken to be about it.
    ///
    /// A token that was asked for less than a second ago is the answer to the complaint: several programs are refused with the same token
    /// at the same time, and the first report has it replaced for all of them. Replacing it again would never end at a server that
    /// revokes the access token before.
    package func mayBeRejected(at now: Moment) -> Bool {
        now.elapsed(since: issuedAt) >= RefreshRule.shortestInterval
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
        rest(of: refreshAfter, at: now)
    }

    /// How long it is until a refresh is late (`RefreshRule.reserve`), by either clock; zero if it is.
    func timeToReserve(at now: Moment) -> Duration {
        rest(of: lifetime - RefreshRule.reserve(lifetime: lifetime), at: now)
    }

    private func rest(of duration: Duration, at now: Moment) -> Duration {
        let isSameBoot = now.boot.bootID == issuedAt.boot.bootID
        guard isSameBoot || now.wall >= issuedAt.wall else { return .zero }
        return max(duration - now.longestElapsed(since: issuedAt), .zero)
    }
}

/// What the lifetime of an access token rests on; the raw values are those of the wire and of the store.
package enum LifetimeBasis: String, Hashable, Sendable, CaseIterable {
    /// The server said it.
    case stated
    /// The server said nothing (RFC 6749 §5.1 leaves that open): its profile's lifetime, or an hour.
    case notStated
    /// The server said something that is no length of time: its profile's lifetime, or an hour.
    case unreadable
    /// It has no end: the server said so in its way, or gave a token that nothing can replace without an end.
    case unlimited
}

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

    func remaining(at now: Moment) -> Duration {
        max(lifetime - now.longestElapsed(since: issuedAt), .zero)
    }

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
