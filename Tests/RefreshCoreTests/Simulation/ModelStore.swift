import RefreshCore

/// What the database keeps of one account: what is here survives a crash, all else does not.
struct ModelStore {
    private(set) var state = RefreshState()
    private(set) var policy = RefreshPolicy()
    /// By generation, as the store keeps them.
    private(set) var refreshTokens: [Generation: ModelToken] = [:]
    /// True time at which the stored access token ends; nil if there is none.
    private(set) var accessEndsAt: Int64?
    /// What is held of token targets, and the true times at which their tokens end.
    private(set) var targets: [TokenTarget: (times: AccessTokenTimes, endsAt: Int64?)] = [:]
    /// The wall clock at the last commit: what a restarted shell knows of a clock that was set back meanwhile.
    private(set) var lastSeen = Timestamp(microseconds: .min)

    /// One transaction.
    mutating func commit(
        _ newState: RefreshState,
        _ policy: RefreshPolicy,
        _ change: TokenChange,
        refreshToken: ModelToken?,
        accessEndsAt newEnd: Int64?,
        at now: Moment
    ) {
        state = newState
        self.policy = policy
        lastSeen = now.wall
        switch change {
        case .unchanged: break
        case .erase:
            refreshTokens = [:]
            accessEndsAt = nil
            targets = [:]
        case .replace:
            (refreshTokens, targets) = ([:], [:])
            accessEndsAt = newEnd
            keep(refreshToken)
        case .store:
            accessEndsAt = newEnd
            keep(refreshToken)
        case .storeGrant:
            keep(refreshToken)
        case .storeTarget(let target, let times):
            targets[target] = (times, newEnd)
            keep(refreshToken)
        case .eraseTarget(let target):
            targets[target] = nil
        }
    }

    private mutating func keep(_ refreshToken: ModelToken?) {
        if let refreshToken { refreshTokens[state.generation] = refreshToken }
        let kept = [state.generation, state.previous?.generation]
        refreshTokens = refreshTokens.filter { kept.contains($0.key) }
    }

    /// What the shell does when the wall clock was set back: deadlines are instants of that clock.
    mutating func shiftDeadline(by delta: Duration, at now: Moment) {
        state.deadline = state.deadline.map { $0 + delta }
        lastSeen = now.wall
    }
}
