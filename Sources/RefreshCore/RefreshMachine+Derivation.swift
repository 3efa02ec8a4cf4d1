/// What becomes of an account whose token is derived from another account's (RFC 8693).
extension RefreshMachine {
    /// Nothing was sent, so nothing is known; the request is due at once.
    mutating func leaseReturned(for generation: Generation, at now: Moment) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else { return [] }
        state.phase = .scheduled
        return rearm(at: now.wall)
    }

    /// No retry helps before a person has signed in to the other account.
    mutating func sourceLacking(for generation: Generation, _ failure: RefreshFailure, at now: Moment) -> [Effect] {
        guard case .refreshing(let lease) = state.phase, lease.generation == generation else { return [] }
        return requireInteraction(.sourceAccount, failure, at: now)
    }

    mutating func sourceChanged(at now: Moment, jitter: Double) -> [Effect] {
        guard case .interactionRequired(let interaction) = state.phase, interaction.reason == .sourceAccount else {
            return connectivityRestored(at: now, jitter: jitter)
        }
        state.phase = .scheduled
        return rearm(at: now.wall)
    }
}
