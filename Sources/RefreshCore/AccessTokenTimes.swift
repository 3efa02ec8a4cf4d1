/// When an access token was issued, how long it lives, and when it should be refreshed.
package struct AccessTokenTimes: Hashable, Sendable {
    /// When the request for the token was sent. The server cannot have issued the token earlier.
    package var issuedAt: Moment
    /// From `issuedAt` until the token expires (`expires_in`, RFC 6749 §5.1).
    package var lifetime: Duration
    /// From `issuedAt` until a refresh is due.
    package var refreshAfter: Duration
    /// Where `lifetime` comes from.
    package var basis: LifetimeBasis

    package init(issuedAt: Moment, lifetime: Duration, refreshAfter: Duration, basis: LifetimeBasis = .stated) {
        self.issuedAt = issuedAt
        self.lifetime = lifetime
        self.refreshAfter = refreshAfter
        self.basis = basis
    }

    /// When the token expires, by the wall clock as it reads at `now`. For people and other programs.
    ///
    /// Every call returns the same instant, unless the wall clock was set back since the token was issued. It is never
    /// later than either clock says.
    package func expiresAt(at now: Moment) -> Timestamp {
        let planned = issuedAt.wall + lifetime
        let actual = now.wall + timeToEnd(at: now)
        return planned - actual > .seconds(1) ? actual : planned
    }

    /// How much of the lifetime is left at `now`, by the clock that shows less; zero if the token has expired.
    ///
    /// After a virtual machine was paused, only the wall clock knows how old the token is. After the wall clock was set
    /// forward, callers wait for a refresh that was not necessary.
    package func remaining(at now: Moment) -> Duration {
        max(lifetime - now.longestElapsed(since: issuedAt), .zero)
    }

    /// How much of the lifetime is left at `now`, negative if none, for decisions that cannot be undone: by the boot-time
    /// clock, or by the wall clock after a restart of the machine.
    func timeToEnd(at now: Moment) -> Duration {
        lifetime - now.elapsed(since: issuedAt)
    }

    /// Whether the token is valid for long enough at `now` for a caller that needs `minimumValidity`.
    ///
    /// Without a `minimumValidity`, the token must outlive the caller's request: 30 s must be left, or a tenth of a
    /// lifetime shorter than five minutes. If the caller wants more than the server ever gives, a token in the first
    /// tenth of its lifetime suffices. Asking the server at every call would not make it live longer.
    package func suffices(for minimumValidity: Duration?, at now: Moment) -> Bool {
        let remaining = remaining(at: now)
        let wanted = minimumValidity ?? min(.seconds(30), lifetime.scaled(by: 0.1))
        return remaining > .zero && remaining >= min(wanted, lifetime.scaled(by: 0.9))
    }

    /// Whether this token expires at the same time as the earlier token `other`, so that the server gives no later
    /// expiry now.
    ///
    /// The server has then sent `other` again, or a new token with the same end. Servers count in whole seconds, and
    /// answers take time. If less than a tenth of the lifetime has passed, a new token cannot be told from the old one.
    func endsWith(_ other: AccessTokenTimes, at now: Moment) -> Bool {
        let (own, others) = (
            lifetime - now.elapsed(since: issuedAt), other.lifetime - now.elapsed(since: other.issuedAt)
        )
        return basis == .stated && other.basis == .stated && lifetime <= other.lifetime.scaled(by: 0.9)
            && max(own - others, others - own) <= .seconds(3)
    }

    /// Whether a resource server's complaint that names no token counts as one about this token.
    ///
    /// A token requested less than a second ago does not count. Several programs are often refused with the same old
    /// token at the same time. The first report replaces that token for all of them. Without this limit, replacing
    /// would never end at a server that revokes the previous access token.
    package func mayBeRejected(at now: Moment) -> Bool {
        now.elapsed(since: issuedAt) >= RefreshRule.shortestInterval
    }

    /// Whether a refresh is due by either clock.
    ///
    /// The clocks disagree after the wall clock was stepped, or after a virtual machine was paused. We cannot know
    /// which one is right, and an early refresh costs less than an expired token. A token issued in the future means
    /// that the clock was stepped.
    package func isDue(at now: Moment) -> Bool {
        timeToRefresh(at: now) == .zero
    }

    /// How long until a refresh is due; zero if it is due.
    func timeToRefresh(at now: Moment) -> Duration {
        rest(of: refreshAfter, at: now)
    }

    /// How long until a refresh is late (`RefreshRule.reserve`), by either clock; zero if it is late.
    func timeToReserve(at now: Moment) -> Duration {
        rest(of: lifetime - RefreshRule.reserve(lifetime: lifetime), at: now)
    }

    private func rest(of duration: Duration, at now: Moment) -> Duration {
        let isSameBoot = now.boot.bootID == issuedAt.boot.bootID
        guard isSameBoot || now.wall >= issuedAt.wall else { return .zero }
        return max(duration - now.longestElapsed(since: issuedAt), .zero)
    }
}

/// How we know the lifetime of an access token. The raw values are used on the wire and in the store.
package enum LifetimeBasis: String, Hashable, Sendable, CaseIterable {
    /// The server stated it.
    case stated
    /// The server did not state it (optional in RFC 6749 §5.1). The profile's lifetime applies, or an hour.
    case notStated
    /// The server sent something that is not a duration. The profile's lifetime applies, or an hour.
    case unreadable
    /// The token does not expire: the server said so in its own way, or it stated no lifetime for a token that cannot
    /// be refreshed.
    case unlimited
}

/// What is known about when a refresh token expires.
package struct RefreshTokenTimes: Hashable, Sendable {
    /// When the server stated the lifetime.
    package var issuedAt: Moment
    /// From `issuedAt` until the token expires.
    package var lifetime: Duration
    /// Whether using the token extends its lifetime: true for an idle time-out, false for an absolute end, nil until a
    /// refresh has shown which.
    package var isExtendedByUse: Bool?
    /// Whether people have been told that the token expires soon.
    package var isEndAnnounced: Bool

    package init(issuedAt: Moment, lifetime: Duration, isExtendedByUse: Bool? = nil, isEndAnnounced: Bool = false) {
        self.issuedAt = issuedAt
        self.lifetime = lifetime
        self.isExtendedByUse = isExtendedByUse
        self.isEndAnnounced = isEndAnnounced
    }

    package var expiresAt: Timestamp { issuedAt.wall + lifetime }

    /// How much is left at `now`, by the clock that shows less.
    func remaining(at now: Moment) -> Duration {
        max(lifetime - now.longestElapsed(since: issuedAt), .zero)
    }

    /// How long until the token should be used so that it does not expire from idleness; nil if using it does not help.
    ///
    /// Using it at half of its lifetime leaves the other half for an outage, a holiday or a laptop in a bag.
    func timeToKeepAlive(at now: Moment) -> Duration? {
        guard isExtendedByUse != false else { return nil }
        let idle = max(lifetime.scaled(by: 0.5), RefreshRule.unaskedInterval)
        return max(idle - now.longestElapsed(since: issuedAt), .zero)
    }

    /// How long until people should be told that the token expires soon; nil while a use may still extend its lifetime.
    ///
    /// A week's notice is enough for anyone who is not away. A short-lived token is announced for its last quarter.
    func timeToAnnouncement(at now: Moment) -> Duration? {
        guard isExtendedByUse == false else { return nil }
        return max(announcedAfter - now.longestElapsed(since: issuedAt), .zero)
    }

    /// From `issuedAt` until people should be told of the end.
    var announcedAfter: Duration { lifetime - min(.seconds(7 * 86_400), lifetime.scaled(by: 0.25)) }

    /// Whether the token expires soon at `now` and no use will extend its lifetime.
    package func isExpiring(at now: Moment) -> Bool {
        timeToAnnouncement(at: now) == .zero
    }

    /// The times after the server stated `lifetime` in the answer to a request sent at `now`.
    func renewed(lifetime newLifetime: Duration, at now: Moment) -> RefreshTokenTimes {
        let age = now.elapsed(since: issuedAt)
        let movedBy = newLifetime - (lifetime - age)
        // A use extends an idle time-out by the token's age, and does not extend an absolute end. Servers count in
        // whole seconds and answers take time, so below four seconds we cannot tell the two apart.
        let tolerance = max(.seconds(4), age.scaled(by: 0.5))
        let isExtended = age > .seconds(4) ? movedBy > tolerance : isExtendedByUse
        if isExtended == false, movedBy > .zero - tolerance {
            // The end has not moved. Keep the whole lifetime: with the rest alone, the time of the announcement would
            // move away.
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

    /// The times after a use at `now`, if the server stated no lifetime and sent no new token.
    ///
    /// If the server stated the lifetime only once, when it issued the token, the end is absolute. It moves only if an
    /// earlier use has moved it.
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
