internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore

/// How the daemon handles failures of the store, as a whole or for one account.
enum StoreFailures {
    /// Records that the store has failed, and tells the callers of `arrivals`.
    static func note(
        _ error: StoreError,
        with arrivals: [Arrival] = [],
        at now: Moment,
        on coordinator: isolated RefreshCoordinator
    ) {
        let trouble = coordinator.storeKeeping.noteFailure(error, at: now)
        for arrival in arrivals {
            let isAnswer = arrival.event.isAnswer
            if isAnswer, !coordinator.records.keeps(arrival) { coordinator.scheduler.put(arrival) }
            if let kept = coordinator.records.unstored(arrival.account) {
                coordinator.settleWaiters(of: kept.record, after: kept.event, at: now)
            } else if !isAnswer {
                coordinator.answerWaiters(of: arrival.account, with: .storeFailed(trouble))
            }
        }
        coordinator.statusChanged()
    }

    /// Makes sure that the path still leads to the open store. A mount that covers its folder is noticed in no other way
    /// before something is written.
    ///
    /// - Throws: `replaced`. The open store is not what people would find, so nothing is told from it.
    static func checkPlace(on coordinator: isolated RefreshCoordinator) throws(StoreError) {
        do throws(StoreError) {
            try coordinator.store.checkPlace()
        } catch {
            if coordinator.trouble?.error != error {
                note(error, at: coordinator.timebase.now(), on: coordinator)
                coordinator.wake()
            }
            if case .replaced = error { throw error }
        }
    }

    /// The error with which the daemon ends because another store is where the open one was: the next daemon begins with
    /// that store. Nil if there is no reason, or if something would be lost: the open store has no name any more, or
    /// something is under way or not stored.
    static func reasonToStartAnew(of coordinator: isolated RefreshCoordinator) -> StoreError? {
        guard !coordinator.isStopping, case .replaced = coordinator.trouble?.error, coordinator.store.hasName,
            !coordinator.lifecycle.hasServerCalls, Shutdown.isIdle(coordinator)
        else { return nil }
        do throws(StoreError) {
            try coordinator.store.checkPlace()
            return nil
        } catch {
            if case .replaced = error { return error }
            return nil
        }
    }

    /// Ends the store's trouble, if there was any.
    static func noteSuccess(on coordinator: isolated RefreshCoordinator) {
        guard coordinator.storeKeeping.noteSuccess() else { return }
        coordinator.statusChanged()
        // No timer fires for what became due in the meantime.
        coordinator.wake()
    }

    /// Watches the store's files.
    static func watchFiles(on coordinator: isolated RefreshCoordinator) {
        coordinator.storeKeeping.watchFiles { [weak coordinator] in
            coordinator?.later { pathChanged(on: $0) }
        }
    }

    private static func pathChanged(on coordinator: isolated RefreshCoordinator) {
        guard !coordinator.isStopping else { return }
        watchFiles(on: coordinator)
        do {
            // If the store can be written, everything that waits for that is decided at once. The probe also restores a
            // lost log.
            try coordinator.store.probe()
            if coordinator.trouble != nil { try coordinator.decide([], at: coordinator.timebase.now()) }
        } catch {
            note(error, at: coordinator.timebase.now(), on: coordinator)
        }
        coordinator.wake()
    }

    /// Removes accounts with unreadable rows from the schedule, which would otherwise return them again and again. It
    /// tells their waiting callers, and reports each account once to subscribers and the journal.
    ///
    /// An answer for such an account cannot be kept, because its place in the store is damaged.
    static func setAside(
        _ damaged: [AccountID: DamagedAccount],
        at now: Moment,
        on coordinator: isolated RefreshCoordinator
    ) throws(StoreError) {
        guard !damaged.isEmpty else { return }
        let new = try coordinator.records.setAside(damaged.keys.sorted())
        for account in new.compactMap({ damaged[$0] }) {
            coordinator.changeLog.write(.accountDamaged(account))
            coordinator.subscribers.publish(.misconfigured, of: account, at: now.wall)
        }
        coordinator.subscribers.send()
        for account in damaged.values {
            coordinator.answerWaiters(of: account.id, with: .damaged(account))
        }
        if !new.isEmpty { coordinator.statusChanged() }
    }

    /// Returns accounts to the schedule that were set aside and can be read again: a batch now, and the rest in later
    /// turns.
    ///
    /// - Parameter start: the last account that was checked before.
    static func takeBackMended(after start: AccountID, on coordinator: isolated RefreshCoordinator) throws(StoreError) {
        let (last, hasMended) = try coordinator.scheduler.takeBackMended(after: start)
        if hasMended { coordinator.wake() }
        guard let last else { return }
        coordinator.later { coordinator in
            guard !coordinator.isStopping else { return }
            do throws(StoreError) {
                try takeBackMended(after: last, on: coordinator)
            } catch {
                note(error, at: coordinator.timebase.now(), on: coordinator)
            }
        }
    }

    /// Drops decisions that contradict the store, or queues them for a second decision.
    static func dismiss(_ outcome: Scheduler.Outcome, at now: Moment, on coordinator: isolated RefreshCoordinator) {
        for decision in outcome.refused {
            let account = decision.record.account
            switch outcome.causes[account.id] {
            case nil: continue
            case .noSuchAccount: coordinator.answerWaiters(of: account.id, with: .removed)
            case let cause?:
                coordinator.changeLog.write(.decisionRefused(cause, of: account.name))
                if coordinator.scheduler.putAgain(decision) {
                    coordinator.wake()
                } else {
                    coordinator.answerWaiters(
                        of: account.id,
                        with: .storeFailed(StoreOutage(error: cause, since: now))
                    )
                }
            }
        }
    }
}
