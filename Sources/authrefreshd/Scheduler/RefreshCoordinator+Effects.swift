internal import AccountStorage
internal import OAuthClient
internal import RefreshCore
internal import SignIn

/// Acting on what was decided, once it is committed.
extension RefreshCoordinator {
    /// What others wait for comes first: requests leave, then callers are answered, then everybody is told.
    func act(on decisions: [Decision], at now: Moment) {
        // By place: a decision is large, and there are many.
        var announcements: [(Announcement, of: Int)] = []
        var tokens = refreshTokens(for: decisions)[...]
        for (place, decision) in decisions.enumerated() {
            for effect in decision.effects {
                switch effect {
                case .persist: break
                case .send(let lease, let set):
                    guard let token = tokens.popFirst() else { preconditionFailure("a lease has its token looked up") }
                    let record = decision.record
                    if send(lease, for: set, of: record, spending: token, after: decision.failureBefore, at: now) {
                        announcements.append((.refreshStarted, of: place))
                    }
                case .publish(let change):
                    callers.note(change, of: decision.record.account.id, at: now)
                    stepUps.forget(after: change, of: decision.record.account.id)
                    announcements.append((.changed(change), of: place))
                }
            }
        }
        // Before anybody is answered: who hears of a new grant may ask for what is derived from it at once.
        for decision in decisions where decision.concernsDerived {
            wakeDerived(from: decision.record.account.id)
        }
        for decision in decisions where decision.event.isSignIn {
            tell(.stored, to: decision.record.account.id, at: now)
        }
        for decision in decisions where callers.isAwaited(decision.record.account.id) {
            unstored.noteStored(decision)
        }
        for decision in decisions {
            settleWaiters(of: decision.record, after: decision.event, at: now)
        }
        unstored.forgetStored()
        for (announcement, place) in announcements {
            let decision = decisions[place]
            announceLater(announcement, of: decision.record, at: now, correlationID: decision.arrival.correlationID)
        }
        for decision in decisions { settingsChanged(by: decision, at: now) }
        for decision in decisions { askLifetime(after: decision) }
        subscribers.send()
        if !decisions.isEmpty { showStatus(at: now) }
    }

    /// Asks the server how long an access token lives whose answer did not say it, where the profile says whom to ask (RFC 7662). The client
    /// has asked already for tokens without a refresh token; one that is to be stored waits for nothing.
    private func askLifetime(after decision: Decision) {
        guard !isStopping, decision.event.isIssuance, let tokens = decision.arrivedTokens(for: nil),
            tokens.refreshToken != nil, let token = tokens.accessToken,
            let times = decision.record.state.accessToken, [.notStated, .unreadable].contains(times.basis),
            settings.profile(for: decision.record.account)?.introspectionEndpoint != nil, beginServerCall()
        else { return }
        let (account, correlationID) = (decision.record.account, decision.arrival.correlationID)
        let requesting = requestingClient(of: account, correlationID: correlationID ?? Self.newCorrelationID())
        Task { [client] in
            if let lifetime = await client.introspectedLifetime(of: token, as: requesting) {
                self.submit(.lifetimeLearned(lifetime, issuedAt: times.issuedAt), for: account.id)
            }
            self.serverCallEnded()
        }
    }

    /// What the store holds of the refresh tokens that `decisions` spend, in their order.
    private func refreshTokens(for decisions: [Decision]) -> [Result<RefreshToken?, StoreError>] {
        let leases = decisions.flatMap { decision in
            decision.effects.compactMap { effect -> (account: AccountID, generation: Generation)? in
                guard case .send(let lease, _) = effect else { return nil }
                return (decision.record.account.id, lease.generation)
            }
        }
        guard !leases.isEmpty else { return [] }
        do throws(StoreError) {
            return try store.refreshTokens(of: leases)
        } catch {
            return leases.map { _ in .failure(error) }
        }
    }

    /// While requests are under way, once a second is enough for the status line: the end of each brings the next turn.
    private func showStatus(at now: Moment) {
        if exchanges.areYoung, let shown = statusShownAt, now.elapsed(since: shown) < .seconds(1) { return }
        statusShownAt = now
        onStatusChange()
    }
}
