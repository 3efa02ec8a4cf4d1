internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// How the daemon handles failures of the store, as a whole or for one account.
extension RefreshCoordinator {
    /// Records that the store has failed, and tells the callers of `arrivals`.
    func noteStoreFailure(_ error: StoreError, with arrivals: [QueuedEvent] = [], at now: Moment) {
        let trouble = storeKeeping.noteFailure(error, at: now)
        for arrival in arrivals {
            let isAnswer = arrival.event.isAnswer
            if isAnswer, !records.keeps(arrival) { scheduler.put(arrival) }
            if let kept = records.unstored(arrival.account) {
                settleWaiters(of: kept.record, after: kept.event, at: now)
            } else if !isAnswer {
                answerWaiters(of: arrival.account, with: .storeFailed(trouble))
            }
        }
        statusChanged()
    }

    /// Makes sure that the path still leads to the open store. A mount that covers its folder is noticed in no other way
    /// before something is written.
    ///
    /// - Throws: `replaced`. The open store is not what people would find, so nothing is told from it.
    func checkStorePlace() throws(StoreError) {
        do throws(StoreError) {
            try store.checkPlace()
        } catch {
            if trouble?.error != error {
                noteStoreFailure(error, at: timebase.now())
                wake()
            }
            if case .replaced = error { throw error }
        }
    }

    /// The error with which the daemon ends because another store is where the open one was: the next daemon begins with
    /// that store. Nil if there is no reason, or if something would be lost: the open store has no name any more, or
    /// something is under way or not stored.
    var reasonToStartAnew: StoreError? {
        guard !isStopping, case .replaced = trouble?.error, store.hasName, lifecycle.serverCalls.isEmpty, isIdle
        else { return nil }
        do throws(StoreError) {
            try store.checkPlace()
            return nil
        } catch {
            if case .replaced = error { return error }
            return nil
        }
    }

    /// Ends the store's trouble, if there was any.
    func noteStoreSuccess() {
        guard storeKeeping.noteSuccess() else { return }
        statusChanged()
        // No timer fires for what became due in the meantime.
        wake()
    }

    /// Watches the store's files.
    func watchStoreFiles() {
        storeKeeping.watchFiles { [weak self] in
            self?.later { $0.storePathChanged() }
        }
    }

    private func storePathChanged() {
        guard !isStopping else { return }
        watchStoreFiles()
        do {
            // If the store can be written, everything that waits for that is decided at once. The probe also restores a
            // lost log.
            try store.probe()
            if trouble != nil { try decide([], at: timebase.now()) }
        } catch {
            noteStoreFailure(error, at: timebase.now())
        }
        wake()
    }

    /// Removes accounts with unreadable rows from the schedule, which would otherwise return them again and again. It
    /// tells their waiting callers, and reports each account once to subscribers and the journal.
    ///
    /// An answer for such an account cannot be kept, because its place in the store is damaged.
    func setAside(_ damaged: [AccountID: DamagedAccount], at now: Moment) throws(StoreError) {
        guard !damaged.isEmpty else { return }
        let new = try records.setAside(damaged.keys.sorted())
        for account in new.compactMap({ damaged[$0] }) {
            changeLog.write(.accountDamaged(account))
            subscribers.publish(.misconfigured, of: account, at: now.wall)
        }
        subscribers.send()
        for account in damaged.values {
            answerWaiters(of: account.id, with: .damaged(account))
        }
        if !new.isEmpty { statusChanged() }
    }

    /// Returns accounts to the schedule that were set aside and can be read again: a batch now, and the rest in later
    /// turns.
    ///
    /// - Parameter start: the last account that was checked before.
    func takeBackMended(after start: AccountID) throws(StoreError) {
        let (last, hasMended) = try scheduler.takeBackMended(after: start)
        if hasMended { wake() }
        guard let last else { return }
        later { coordinator in
            guard !coordinator.isStopping else { return }
            do throws(StoreError) {
                try coordinator.takeBackMended(after: last)
            } catch {
                coordinator.noteStoreFailure(error, at: coordinator.timebase.now())
            }
        }
    }

    /// Drops decisions that contradict the store, or queues them for a second decision.
    func dropRefused(of outcome: Scheduler.Outcome, at now: Moment) {
        for decision in outcome.refused {
            let account = decision.record.account
            switch outcome.causes[account.id] {
            case nil: continue
            case .noSuchAccount: answerWaiters(of: account.id, with: .removed)
            case let cause?:
                changeLog.write(.decisionRefused(cause, of: account.name))
                if scheduler.putAgain(decision) {
                    wake()
                } else {
                    answerWaiters(
                        of: account.id,
                        with: .storeFailed(StoreOutage(error: cause, since: now))
                    )
                }
            }
        }
    }
}
