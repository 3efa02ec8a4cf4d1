internal import RefreshCore

/// The outages of authorization servers of which the journal has a line.
///
/// During an outage, each account of the server fails at each attempt. The lines would say the same, and hide others.
struct Outages {
    /// The most servers that are remembered. If more fail at once, this machine's network is down, and the daemon logs
    /// that.
    private static let maximum = 1000

    /// How many lines were left out for each kind of failure that has a line.
    private var underWay: [Issuer: [FailureClass: Int]] = [:]

    /// Takes note of a change of an account at `issuer`.
    ///
    /// - Returns: how many lines were left out before the change's own line; nil if that is left out as well.
    mutating func note(_ change: AccountChange, at issuer: Issuer) -> Int? {
        switch change {
        case .refreshFailed(let failure, _), .interactionStillRequired(_, let failure), .targetFailed(_, let failure):
            guard failure.isOutage else { return 0 }
            let leftOut = underWay[issuer]?[failure.failureClass].map { $0 + 1 }
            if underWay[issuer] != nil || underWay.count < Self.maximum {
                underWay[issuer, default: [:]][failure.failureClass] = leftOut ?? 0
            }
            return leftOut == nil ? 0 : nil
        case .tokenRefreshed, .targetRefreshed, .signedIn, .accessTokenObtained, .misconfigured, .interactionRequired:
            return underWay.removeValue(forKey: issuer)?.values.reduce(0, +) ?? 0
        case .grantImported, .refreshTokenExpiring, .signOutNear, .signedOut, .signedOutByItself, .staleAnswerDropped,
            .parked, .unparked:
            return 0
        }
    }
}

extension RefreshFailure {
    /// Whether it is about the server or the way to it, and so about all accounts there.
    fileprivate var isOutage: Bool {
        guard failureClass.subject == .service else { return false }
        // The daemon before this one ended while it waited. That says nothing about the server, and each account may have
        // lost its grant.
        if failureClass == .unanswered, detail.correlationID == nil { return false }
        // Until it is believed, a refusal of one account counts as an outage too, but it has the status of a refusal.
        return detail.httpStatus.map { !(400...499).contains($0) || $0 == 429 } ?? (detail.source == nil)
    }
}
