/// One event being decided: the account's state as it changes, and all that the decision may know beside it.
///
/// The rules (`AnswerRule`, `FailureRule`, `SignInRule`, `TargetRule`) take it through what has happened. Here is what they share: the
/// questions they ask of a state, and the steps they all end in.
struct RefreshStep {
    var state: RefreshState
    let policy: RefreshPolicy
    let now: Moment
    /// 0..<1.
    let jitter: Double

    // MARK: Questions

    var isRefreshDue: Bool {
        guard let accessToken = state.accessToken else { return true }
        if accessToken.isDue(at: now) { return true }
        return state.refreshToken?.timeToKeepAlive(at: now) == .zero
    }

    /// A caller's need may end a back-off early, but not more often than every two seconds, and never a wait the server asked for. Where a
    /// person is needed, it may have tried now and then whether the server still says so.
    var mayBeginForCaller: Bool {
        guard state.isRefreshable else { return false }
        return switch state.phase {
        case .scheduled: true
        case .backingOff(let backOff):
            remaining(of: backOff) == .zero
                || mayEndForCaller(backOff)
                    && now.elapsed(since: backOff.failedAt) >= max(BackOffRule.callerInterval, backOff.leastDelay)
        case .interactionRequired(let interaction): interaction.timeToCallersAttempt(at: now) == .zero
        case .signedOut, .refreshing, .parked: false
        }
    }

    private func mayEndForCaller(_ backOff: BackOff) -> Bool {
        // Without an access token there is nothing left that a second use of the refresh token could end early.
        let isFree = backOff.kind == .doubtful && !state.holdsAccessToken(for: .zero, at: now)
        return backOff.yieldsToCallers || isFree
    }

    /// A person may also try what is misconfigured or needs interaction: something outside may have been mended.
    var mayBeginForPerson: Bool {
        guard state.isRefreshable else { return false }
        return switch state.phase {
        case .scheduled: true
        case .interactionRequired(let interaction): interaction.remaining(of: .zero, at: now) == .zero
        case .backingOff(let backOff):
            switch backOff.kind {
            case .transient, .misconfigured, .doubtful: now.elapsed(since: backOff.failedAt) >= backOff.leastDelay
            case .serverAsked, .confirming: backOff.remaining(at: now) == .zero
            }
        // A service account has nobody who signs in: this is how its owner has it go on after a sign-out.
        case .signedOut: policy.isServiceAccount
        case .refreshing, .parked: false
        }
    }

    /// The earliest of: refresh of the access token, use of the refresh token before it dies of idleness, announcement of its end.
    ///
    /// Counted from `now`: the wall clock may have been stepped since the tokens were issued. Without an access token it is `now`.
    var scheduledDeadline: Timestamp {
        guard let accessToken = state.accessToken else { return now.wall }
        guard state.isRefreshable else { return now.wall + accessToken.remaining(at: now) }
        var wait = accessToken.timeToRefresh(at: now)
        if let keepAlive = state.refreshToken?.timeToKeepAlive(at: now) { wait = min(wait, keepAlive) }
        if let times = state.refreshToken, !times.isEndAnnounced, let announcement = times.timeToAnnouncement(at: now) {
            wait = min(wait, announcement)
        }
        return now.wall + wait
    }

    /// What is left of a wait; zero once it is over.
    ///
    /// What may have been spent is kept back by the tokens' own times: clocks that were stepped meanwhile count for those as ever.
    func remaining(of backOff: BackOff) -> Duration {
        switch backOff.kind {
        case .doubtful: timeToResend
        case .transient, .misconfigured, .serverAsked, .confirming: backOff.remaining(at: now)
        }
    }

    /// How long a refresh token that may have been spent is kept back.
    ///
    /// If it was spent, using it again can end the whole grant (RFC 9700 §4.14.2), and the access token in hand with it. So it is used
    /// again as late as that token's end, and the refresh token's own, allow.
    var timeToResend: Duration {
        guard let accessToken = state.accessToken else { return .zero }
        let wait = accessToken.timeToReserve(at: now)
        return min(wait, state.refreshToken?.timeToKeepAlive(at: now) ?? wait)
    }

    // MARK: The sign-out that the owner has asked for

    /// When an account whose person has signed in at `moment` signs out by itself.
    func signOutTimes(from moment: Moment) -> RefreshTokenTimes? {
        policy.forgetAfter.map { RefreshTokenTimes(issuedAt: moment, lifetime: $0, isExtendedByUse: false) }
    }

    var isSignOutDue: Bool { state.isSignOutDue(at: now) }

    /// Has the account woken in time for its sign-out and for the word before.
    mutating func includeSignOutInDeadline() {
        guard let signOut = state.signOut else { return }
        var wait = signOut.remaining(at: now)
        // The word is given where all is well; elsewhere a person is called already, or the account is busy.
        if case .scheduled = state.phase, !signOut.isEndAnnounced, let word = signOut.timeToAnnouncement(at: now) {
            wait = min(wait, word)
        }
        let end = now.wall + wait
        state.deadline = state.deadline.map { min($0, end) } ?? end
    }

    // MARK: Steps that all rules take

    /// A lease on the current refresh token that leaves a person called who is.
    var nextLease: Lease {
        Lease(generation: state.generation, startedAt: now, interaction: state.interaction)
    }

    mutating func begin() -> [Effect] {
        begin(nextLease)
    }

    /// - Parameter target: what is asked for; nil for the account's default access token.
    mutating func begin(_ lease: Lease, for target: TokenTarget? = nil) -> [Effect] {
        state.phase = .refreshing(lease)
        state.deadline = lease.startedAt.wall + Lease.duration
        return [.persist(.unchanged), .send(lease, for: target)]
    }

    mutating func rearm(at deadline: Timestamp?) -> [Effect] {
        state.deadline = deadline
        return [.persist(.unchanged)]
    }

    // MARK: Tokens that came

    func accessTokenTimes(of issuance: Issuance, sentAt: Moment) -> AccessTokenTimes {
        let lifetime = issuance.lifetime ?? RefreshRule.assumedLifetime
        return AccessTokenTimes(
            issuedAt: sentAt,
            lifetime: lifetime,
            refreshAfter: RefreshRule.refreshAfter(
                lifetime: lifetime,
                refreshIn: issuance.refreshIn,
                leadTime: policy.leadTime,
                jitter: jitter
            ),
            basis: issuance.lifetimeBasis
        )
    }

    mutating func adoptRefreshToken(of issuance: Issuance, sentAt: Moment) {
        // RFC 6749 §4.4.3: there should be none, and one that came nevertheless is not kept.
        guard !policy.isServiceAccount else { return }
        if let told = issuance.refreshTokenLifetime, told > .zero {
            state.refreshToken =
                state.refreshToken?.renewed(lifetime: told, at: sentAt)
                ?? RefreshTokenTimes(issuedAt: sentAt, lifetime: told)
        } else if policy.isRefreshTokenLifetimeAbsolute, let known = policy.refreshTokenLifetime {
            // A rotated token inherits the end of the one before: only a sign-in, which leaves no times behind, starts a new life.
            let kept = state.refreshToken.flatMap { $0.isExtendedByUse == true ? nil : $0.used(at: sentAt) }
            state.refreshToken = kept ?? RefreshTokenTimes(issuedAt: sentAt, lifetime: known, isExtendedByUse: false)
        } else if let known = policy.refreshTokenLifetime {
            // A profile's figure is an idle time: each use starts it again.
            state.refreshToken = RefreshTokenTimes(issuedAt: sentAt, lifetime: known, isExtendedByUse: true)
        } else {
            state.refreshToken = issuance.isRotated ? nil : state.refreshToken?.used(at: sentAt)
        }
    }
}
