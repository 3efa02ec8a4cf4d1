/// Signs an account out at the time that its owner configured (`RefreshPolicy.forgetAfter`).
///
/// A sign-out is no refresh: it needs no network, no lease and no place at the issuer's gate. Its clocks have a rule of
/// their own:
///
/// 1. While any clock says that the time is over, nothing is given out and no request begins
///    (`RefreshState.isSignOutDue`).
/// 2. The tokens are erased when the boot-time clock agrees, because a wall clock can be wrong for a moment, and what is
///    erased is lost. That happens at whatever comes first, also while a request is under way. The answer that arrives
///    later is a stale one.
/// 3. After a restart of the machine only the wall clock is known. Then the tokens are erased when that clock has gone
///    undisturbed for some minutes.
package enum SignOutRule {
    /// How long the wall clock must go undisturbed before it is believed alone. A machine sets its clock by the network
    /// within a minute or two after it starts.
    package static let agreement = Duration.seconds(300)
}

extension RefreshStep {
    /// The effects of the sign-out if its time is over for certain; nil if it is not, or if `event` brings another grant.
    mutating func signedOut(at event: Event) -> [Effect]? {
        switch event {
        case .grant, .owner(.signedOut): return nil
        case .demand, .answer, .owner, .host, .source, .lifetimeLearned: break
        }
        guard let times = state.signOut else { return nil }
        let isOver =
            if let elapsed = now.boot.elapsed(since: times.issuedAt.boot) {
                elapsed >= times.lifetime
            } else {
                event == .host(.signOutReached) && isSignOutDue
            }
        return isOver ? signedOut(as: .signedOutByItself) : nil
    }

    /// Announces the sign-out. Nobody is told whom the account already calls, or whose account is not in use.
    mutating func signOutReached() -> [Effect] {
        guard let times = state.signOut else { return [] }
        guard !times.isEndAnnounced, now.elapsed(since: times.issuedAt) >= times.announcedAfter else {
            // The store's time was wrong, and this mends it.
            return [.persist(.unchanged)]
        }
        state.signOut?.isEndAnnounced = true
        switch state.phase {
        case .scheduled, .refreshing, .backingOff:
            return [.persist(.unchanged), .publish(.signOutNear(at: times.expiresAt))]
        case .interactionRequired, .parked, .signedOut:
            return [.persist(.unchanged)]
        }
    }

    /// Applies a changed `forgetAfter`.
    ///
    /// It counts from the same sign-in. If the sign-out was not counted before, it counts from now.
    mutating func keepSignOut() {
        guard state.phase != .signedOut else { return }
        let known = state.signOut
        let new = signOutTimes(from: known?.issuedAt ?? now)
        if new?.lifetime != known?.lifetime { state.signOut = new }
    }
}

extension RefreshTokenTimes {
    /// For a sign-out: from the sign-in until the next thing that follows, the announcement or the end.
    package var nextAfter: Duration { isEndAnnounced ? lifetime : announcedAfter }
}

extension RefreshState {
    /// Whether the account would sign out at once if `forgetAfter` became its setting.
    package func wouldSignOut(after forgetAfter: Duration?, at now: Moment) -> Bool {
        guard let forgetAfter, let signedInAt = signOut?.issuedAt, phase != .signedOut else { return false }
        return now.longestElapsed(since: signedInAt) >= forgetAfter
    }
}
