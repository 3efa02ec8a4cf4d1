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

    /// When the token should be used, so that it does not die of idleness; nil if using it does not help.
    ///
    /// Half of its life leaves the other half for an outage, a holiday or a laptop in a bag.
    var keepAliveAt: Timestamp? {
        isExtendedByUse == false ? nil : issuedAt.wall + lifetime.scaled(by: 0.5)
    }

    /// When people should be told that the end is near; nil while it is not known to be final.
    ///
    /// A week is enough for anyone who is not away; a short-lived token is announced for its last quarter.
    var announceAt: Timestamp? {
        guard isExtendedByUse == false else { return nil }
        return expiresAt - min(.seconds(7 * 86_400), lifetime.scaled(by: 0.25))
    }

    /// Whether the end is final and near at `now`.
    package func isExpiring(at now: Moment) -> Bool {
        announceAt.map { $0 <= now.wall } ?? false
    }

    /// The times after the server has named a lifetime of `lifetime` in the answer to a request sent at `now`.
    func renewed(lifetime newLifetime: Duration, at now: Moment) -> RefreshTokenTimes {
        let movedBy = (now.wall + newLifetime) - expiresAt
        // Servers count in whole seconds and answers travel: an end that moved by less has not moved.
        let hasMoved = movedBy > .seconds(2)
        return RefreshTokenTimes(
            issuedAt: now,
            lifetime: newLifetime,
            isExtendedByUse: hasMoved,
            isEndAnnounced: !hasMoved && isEndAnnounced
        )
    }
}
