@testable import RefreshCore

/// What the database keeps of one account. Only this survives a crash.
struct ModelStore {
    private(set) var state = RefreshState()
    private(set) var policy = RefreshPolicy()
    /// The refresh tokens by generation, as in the store.
    private(set) var refreshTokens: [Generation: ModelToken] = [:]
    /// The true time at which the stored access token expires; nil if there is none.
    private(set) var accessEndsAt: Int64?
    /// The stored token targets, and the true times at which their tokens expire.
    private(set) var targets: [TokenTarget: (times: AccessTokenTimes, endsAt: Int64?)] = [:]
    /// The wall clock at the last commit. A restarted shell recognizes by it that the clock was set back meanwhile.
    private(set) var lastSeen = Timestamp(microseconds: .min)

    /// Commits one transaction.
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

    /// Moves the deadline after the wall clock was set back, as the shell does, because deadlines are times of that
    /// clock.
    mutating func shiftDeadline(by delta: Duration, at now: Moment) {
        state.deadline = state.deadline.map { $0 + delta }
        lastSeen = now.wall
    }
}
