internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Systemd
internal import Varlink

/// What keeping the store asks for, and what callers ask of it.
extension RefreshCoordinator {
    /// What keeps the store from being written; nil if nothing does.
    var trouble: StoreTrouble? { storeKeeping.trouble }

    /// Does what the store's keeping cannot do by itself.
    func take(_ steps: [StoreKeeping.Step]) {
        for step in steps {
            switch step {
            case .turn(let turn, after: nil): later(turn)
            case .turn(let turn, let delay?):
                queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.microseconds))) { [weak self] in
                    self?.assumeIsolated { $0.take($0.storeKeeping.take(turn)) }
                }
            case .block(let label, let body):
                let tell: @Sendable (StoreKeeping.Turn) -> Void = { [weak self] in self?.later($0) }
                DispatchQueue(label: label, qos: .utility).async { body(tell) }
            case .beginRekeying: Task { take(await storeKeeping.beginRekeying()) }
            case .destroyRetiredKey: Task { take(await storeKeeping.destroyRetiredKey()) }
            case .failed(let error): storeFailed(error, with: [], at: timebase.now())
            case .statusChanged: statusChanged()
            case .wake: wake()
            }
        }
    }

    private nonisolated func later(_ turn: StoreKeeping.Turn) {
        queue.async { [weak self] in
            self?.assumeIsolated { $0.take($0.storeKeeping.take(turn)) }
        }
    }

    /// Looks whether the next daemon would find the store's key.
    func checkKey() async {
        take(await storeKeeping.checkKey())
    }

    /// Notes whether there are descriptors for callers.
    func descriptorsChanged(areLacking: Bool) {
        storeKeeping.descriptorsChanged(areLacking: areLacking)
        statusChanged()
    }

    /// Makes a backup beside the store.
    ///
    /// - Returns: the caller's number, to forget it by.
    /// - Throws: `StoreError.beingResealed` while a change of the key makes progress.
    func backUp(
        _ tell: @escaping @Sendable (Result<StoreBackups.Copy, StoreBackups.Failure>) -> Void
    ) throws(StoreError) -> Int {
        let (number, steps) = try storeKeeping.backUp(tell)
        take(steps)
        return number
    }

    /// Forgets a backup's caller who has gone.
    func forgetBackupCaller(_ number: Int) {
        take(storeKeeping.forgetBackupCaller(number))
    }

    /// Checks the store, or joins the check that is under way.
    ///
    /// - Returns: the follower's number, to forget it by.
    /// - Throws: `StoreError` if the copy cannot be begun.
    func check(for follower: StoreChecking.Follower) throws(StoreError) -> Int {
        let (number, steps) = try storeKeeping.check(for: follower)
        take(steps)
        return number
    }

    /// Changes the store's key, or joins the change that is under way; `tell` is called as it goes on, on this queue.
    ///
    /// - Returns: the follower's number, to forget it by.
    func rekey(_ tell: @escaping @Sendable (Rekeying.News) -> Void) -> Int {
        let (number, steps) = storeKeeping.rekey(tell)
        take(steps)
        return number
    }

    /// Has the client keep in the store what authorization servers publish about themselves: after a restart accounts are refreshed even while
    /// it cannot be fetched.
    func keepMetadata() {
        client.keepMetadata(
            in: MetadataShelf(
                find: { [weak self] place in await self?.metadata(at: place) },
                keep: { [weak self] place, metadata in await self?.keep(metadata, at: place) }
            )
        )
    }

    private func metadata(at place: KeptMetadata.Place) -> KeptMetadata? {
        lifecycle.isOver ? nil : storeKeeping.metadata(at: place)
    }

    private func keep(_ metadata: KeptMetadata, at place: KeptMetadata.Place) {
        if !lifecycle.isOver { storeKeeping.keep(metadata, at: place) }
    }
}

/// What is done when the store fails, as a whole or for one account.
extension RefreshCoordinator {
    /// Notes that the store has failed, and tells those who wait for `arrivals`.
    func storeFailed(_ error: StoreError, with arrivals: [Arrival], at now: Moment) {
        let trouble = storeKeeping.noteFailure(error, at: now)
        for arrival in arrivals {
            if let kept = records.unstored(arrival.account) {
                settleWaiters(of: kept.record, after: kept.event, at: now)
            } else if arrival.event.isAnswer {
                scheduler.put(arrival)
            } else {
                answerWaiters(of: arrival.account, with: .storeFailed(trouble))
            }
        }
        statusChanged()
    }

    /// Ends the trouble with the store, if there was any.
    func storeWorks() {
        guard storeKeeping.noteSuccess() else { return }
        statusChanged()
        // What fell due meanwhile, no timer fires for.
        wake()
    }

    /// Has the store's files watched.
    func watchStore() {
        storeKeeping.watchFiles { [weak self, queue] in
            queue.async { [weak self] in
                self?.assumeIsolated { $0.storePathChanged() }
            }
        }
    }

    private func storePathChanged() {
        guard !isStopping else { return }
        watchStore()
        do {
            // If it can be written, whatever waits for that is decided on at once. A lost log is renewed by the way.
            try store.probe()
            if trouble != nil { try decide([], at: timebase.now()) }
        } catch {
            storeFailed(error, with: [], at: timebase.now())
        }
        wake()
    }

    /// Takes accounts whose rows cannot be read out of the schedule, which would come upon them again and again; tells those who
    /// wait for them and, once, everybody else.
    ///
    /// An answer for such an account cannot be kept: where it would be is what is damaged.
    func setAside(_ damaged: [AccountID: DamagedAccount], at now: Moment) throws(StoreError) {
        guard !damaged.isEmpty else { return }
        let new = try store.setAside(damaged.keys.sorted())
        for account in new.compactMap({ damaged[$0] }) {
            changeLog.damaged(account)
            let change = Subscribe.Reply(
                event: "misconfigured",
                atUSec: now.wall.microseconds,
                accounts: [account.wireStatus],
                account: account.name
            )
            subscribers.publish(change, of: account.id)
        }
        subscribers.send()
        for account in damaged.values {
            answerWaiters(of: account.id, with: .damaged(account))
        }
        if !new.isEmpty { statusChanged() }
    }

    /// Takes the accounts that were set aside, and can be read again, back into the schedule: some now, the others in later turns.
    ///
    /// - Parameter start: the last account that was looked at.
    func takeBackMended(after start: AccountID) throws(StoreError) {
        let (mended, last) = try store.takeBack(after: start, limit: Scheduler.batchSize)
        for account in mended where scheduler.requests[account] == nil {
            // Its request was another daemon's, which is dead.
            if case .refreshing? = try store.record(account)?.state.phase { submit(.requestAbandoned, for: account) }
        }
        if !mended.isEmpty { wake() }
        guard let last else { return }
        queue.async { [weak self] in
            self?.assumeIsolated { coordinator in
                guard !coordinator.isStopping else { return }
                do throws(StoreError) {
                    try coordinator.takeBackMended(after: last)
                } catch {
                    coordinator.storeFailed(error, with: [], at: coordinator.timebase.now())
                }
            }
        }
    }

    /// Ends decisions that contradict the store, each by its cause.
    ///
    /// - Parameter causes: why, by account.
    func dismiss(_ decisions: [Decision], _ causes: [AccountID: StoreError], at now: Moment) {
        for decision in decisions {
            let account = decision.record.account.id
            guard let cause = causes[account] else { continue }
            if case .noSuchAccount = cause {
                answerWaiters(of: account, with: .removed)
                continue
            }
            changeLog.contradicted(cause, decision.record.account.name)
            // 1. The state that was decided on was never stored, or another has been since: the machine decides on the stored one
            //    what becomes of the answer, for the tokens in it may be the only ones the server still takes.
            // 2. If that contradicts the store, too, nothing will heal it.
            if decision.carriesAnswer, !decision.arrival.isSecondTry {
                var arrival = decision.arrival
                arrival.isSecondTry = true
                submit(arrival)
            } else {
                answerWaiters(of: account, with: .storeFailed(StoreTrouble(error: cause, since: now)))
            }
        }
    }
}
