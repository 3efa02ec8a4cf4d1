/// The decision about one event: the account's state while it changes, and everything that the decision depends on.
///
/// The rules that apply the event are extensions, each in a file of its own (`AnswerRule.swift` and others). Here is what
/// they share: questions about a state, and the steps that end each rule.
struct RefreshStep {
    var state: RefreshState
    let policy: RefreshPolicy
    let now: Moment
    /// The random part of waits, 0..<1.
    let jitter: Double

    // MARK: Questions

    var isDeadlineOver: Bool { state.deadline.map { $0 <= now.wall } ?? false }

    var isRefreshDue: Bool {
        guard let accessToken = state.accessToken else { return true }
        if accessToken.isDue(at: now) { return true }
        return state.refreshToken?.timeToKeepAlive(at: now) == .zero
    }

    /// Whether a caller's need may start a request now.
    ///
    /// A caller may end a back-off early, but less each time (`BackOffRule.forCallers`), and never a wait that the server
    /// asked for. If a person is needed, a caller may cause an attempt from time to time.
    var mayBeginForCaller: Bool {
        guard state.isRefreshable, !isSignOutDue else { return false }
        return switch state.phase {
        case .scheduled: true
        case .backingOff(let backOff):
            remaining(of: backOff) == .zero
                || mayEndForCaller(backOff)
                    && now.elapsed(since: backOff.failedAt)
                        >= max(BackOffRule.forCallers(failures: state.failures), backOff.leastDelay)
        case .interactionRequired(let interaction): interaction.timeToCallersAttempt(at: now) == .zero
        case .signedOut, .refreshing, .parked: false
        }
    }

    private func mayEndForCaller(_ backOff: BackOff) -> Bool {
        // A second use of the refresh token can end the access token early. Without a valid access token, nothing can
        // be lost.
        let isFree = backOff.kind == .doubtful && !state.holdsAccessToken(for: .zero, at: now)
        return backOff.yieldsToCallers || isFree
    }

    /// Whether a person may start a request now. That is also allowed if the account is misconfigured or needs
    /// interaction, because something outside may have changed.
    var mayBeginForPerson: Bool {
        guard state.isRefreshable, !isSignOutDue else { return false }
        return switch state.phase {
        case .scheduled: true
        case .interactionRequired(let interaction): interaction.remaining(of: .zero, at: now) == .zero
        case .backingOff(let backOff):
            switch backOff.kind {
            case .transient, .misconfigured, .doubtful: now.elapsed(since: backOff.failedAt) >= backOff.leastDelay
            case .serverAsked, .confirming, .crashed: backOff.remaining(at: now) == .zero
            }
        // Nobody signs in to a service account, so its owner resumes it this way after a sign-out.
        case .signedOut: policy.isServiceAccount
        case .refreshing, .parked: false
        }
    }

    /// The earliest of these: the refresh of the access token, a use of the refresh token before it expires from
    /// idleness, the announcement of its end.
    ///
    /// It counts from `now`, because the wall clock may have been stepped since the tokens were issued. Without an
    /// access token it is `now`.
    var scheduledDeadline: Timestamp {
        guard let accessToken = state.accessToken else { return now.wall }
        guard state.isRefreshable else { return now.wall + max(accessToken.timeToEnd(at: now), .zero) }
        var wait = accessToken.timeToRefresh(at: now)
        if let keepAlive = state.refreshToken?.timeToKeepAlive(at: now) { wait = min(wait, keepAlive) }
        if let times = state.refreshToken, !times.isEndAnnounced, let announcement = times.timeToAnnouncement(at: now) {
            wait = min(wait, announcement)
        }
        return now.wall + wait
    }

    /// What is left of a wait; zero once it is over.
    ///
    /// A doubtful wait follows the tokens' times, so that stepped clocks are taken into account as they are elsewhere.
    func remaining(of backOff: BackOff) -> Duration {
        switch backOff.kind {
        case .doubtful: timeToResend
        case .transient, .misconfigured, .serverAsked, .confirming, .crashed: backOff.remaining(at: now)
        }
    }

    /// How long to wait before a refresh token that may have been spent is sent again.
    ///
    /// If it was spent, a second use can end the whole grant (RFC 9700 §4.14.2), and with it the current access token.
    /// So it is sent again as late as possible before the access token and the refresh token expire.
    var timeToResend: Duration {
        guard let accessToken = state.accessToken else { return .zero }
        let wait = accessToken.timeToReserve(at: now)
        return min(wait, state.refreshToken?.timeToKeepAlive(at: now) ?? wait)
    }

    /// Whether the server has just issued the refresh token, and the access token that came with it need not be
    /// replaced yet.
    ///
    /// Then `invalid_grant` contradicts all that is known. Servers that consist of several machines say so while a
    /// machine has not heard of the new refresh token.
    var hasJustBeenServed: Bool {
        guard let previous = state.previous, let accessToken = state.accessToken else { return false }
        return now.longestElapsed(since: previous.replacedAt) < BackOffRule.replicaLag && !accessToken.isDue(at: now)
    }

    /// When an account whose person has signed in at `moment` signs out by itself.
    func signOutTimes(from moment: Moment) -> RefreshTokenTimes? {
        policy.forgetAfter.map { RefreshTokenTimes(issuedAt: moment, lifetime: $0, isExtendedByUse: false) }
    }

    var isSignOutDue: Bool { state.isSignOutDue(at: now) }

    // MARK: Steps that all rules share

    /// A lease on the current refresh token. If a person is needed, that stays so.
    var nextLease: Lease {
        Lease(generation: state.generation, startedAt: now, interaction: state.interaction)
    }

    mutating func begin() -> [Effect] {
        begin(nextLease)
    }

    /// Starts a request. While a clock says that the time of the account is over, it waits instead.
    ///
    /// - Parameter target: what is asked for; nil for the account's default access token.
    mutating func begin(_ lease: Lease, for target: TokenTarget? = nil) -> [Effect] {
        guard !isSignOutDue else {
            if case .refreshing = state.phase { state.phase = .scheduled }
            return rearm(at: now.wall + SignOutRule.agreement)
        }
        state.phase = .refreshing(lease)
        state.deadline = lease.startedAt.wall + Lease.duration
        return [.persist(.unchanged), .send(lease, for: target)]
    }

    mutating func rearm(at deadline: Timestamp?) -> [Effect] {
        state.deadline = deadline
        return [.persist(.unchanged)]
    }

    // MARK: Tokens from an answer

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
        // RFC 6749 §4.4.3: the server should send no refresh token here. If it does, the token is not kept.
        guard !policy.isServiceAccount else { return }
        if let told = issuance.refreshTokenLifetime, told > .zero {
            state.refreshToken =
                state.refreshToken?.renewed(lifetime: told, at: sentAt)
                ?? RefreshTokenTimes(issuedAt: sentAt, lifetime: told)
        } else if policy.isRefreshTokenLifetimeAbsolute, let known = policy.refreshTokenLifetime {
            // A rotated token inherits the end of the previous one. Only a sign-in, which clears the times, starts a
            // new lifetime.
            let kept = state.refreshToken.flatMap { $0.isExtendedByUse == true ? nil : $0.used(at: sentAt) }
            state.refreshToken = kept ?? RefreshTokenTimes(issuedAt: sentAt, lifetime: known, isExtendedByUse: false)
        } else if let known = policy.refreshTokenLifetime {
            // A lifetime from the profile is an idle time-out: each use restarts it.
            state.refreshToken = RefreshTokenTimes(issuedAt: sentAt, lifetime: known, isExtendedByUse: true)
        } else {
            state.refreshToken = issuance.isRotated ? nil : state.refreshToken?.used(at: sentAt)
        }
    }
}
