internal import AccountStorage
internal import Dispatch
internal import OAuthClient
internal import RefreshCore

/// What the store's keeping asks for.
extension RefreshCoordinator {
    /// What keeps the store from being written; nil if nothing does.
    var trouble: StoreTrouble? { storeKeeping.trouble }

    /// Does what the store's keeping asks for.
    func take(_ steps: [StoreKeeping.Step]) {
        for step in steps {
            switch step {
            case .turn(let turn, after: nil): later { $0.take($0.storeKeeping.take(turn)) }
            case .turn(let turn, let delay?):
                queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.microseconds))) { [weak self] in
                    self?.assumeIsolated { $0.take($0.storeKeeping.take(turn)) }
                }
            case .block(let label, let body):
                let tell: @Sendable (StoreKeeping.Turn) -> Void = { [weak self] turn in
                    self?.later { $0.take($0.storeKeeping.take(turn)) }
                }
                DispatchQueue(label: label, qos: .utility).async { body(tell) }
            case .beginRekeying: Task { take(await storeKeeping.beginRekeying()) }
            case .destroyRetiredKey: Task { take(await storeKeeping.destroyRetiredKey()) }
            case .failed(let error): storeFailed(error, with: [], at: timebase.now())
            case .statusChanged: statusChanged()
            case .wake: wake()
            }
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

    /// Does what an answer of the store's keeping asks for besides, and returns the answer.
    @discardableResult
    func take<Answer>(_ answer: (Answer, [StoreKeeping.Step])) -> Answer {
        take(answer.1)
        return answer.0
    }

    /// Has the client keep in the store what authorization servers publish about themselves. So accounts are refreshed after a restart even
    /// if that cannot be fetched.
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

/// What the daemon does when the store fails, as a whole or for one account.
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
        // No timer fires for what fell due meanwhile.
        wake()
    }

    /// Has the store's files watched.
    func watchStore() {
        storeKeeping.watchFiles { [weak self] in self?.later { $0.storePathChanged() } }
    }

    private func storePathChanged() {
        guard !isStopping else { return }
        watchStore()
        do {
            // If the store can be written, what waits for that is decided on at once. The probe also renews a lost log.
            try store.probe()
            if trouble != nil { try decide([], at: timebase.now()) }
        } catch {
            storeFailed(error, with: [], at: timebase.now())
        }
        wake()
    }

    /// Takes accounts whose rows cannot be read out of the schedule, which would find them again and again. Tells those who wait for them
    /// and, once, everybody else.
    ///
    /// An answer for such an account cannot be kept, because its place is what is damaged.
    func setAside(_ damaged: [AccountID: DamagedAccount], at now: Moment) throws(StoreError) {
        guard !damaged.isEmpty else { return }
        let new = try store.setAside(damaged.keys.sorted())
        for account in new.compactMap({ damaged[$0] }) {
            changeLog.damaged(account)
            subscribers.publishDamage(of: account, at: now.wall)
        }
        subscribers.send()
        for account in damaged.values {
            answerWaiters(of: account.id, with: .damaged(account))
        }
        if !new.isEmpty { statusChanged() }
    }

    /// Takes the accounts that were set aside, and can be read again, back into the schedule: a batch now, and the others in later turns.
    ///
    /// - Parameter start: the last account that was looked at.
    func takeBackMended(after start: AccountID) throws(StoreError) {
        let (last, hasMended) = try scheduler.takeBackMended(after: start)
        if hasMended { wake() }
        guard let last else { return }
        later { coordinator in
            guard !coordinator.isStopping else { return }
            do throws(StoreError) {
                try coordinator.takeBackMended(after: last)
            } catch {
                coordinator.storeFailed(error, with: [], at: coordinator.timebase.now())
            }
        }
    }

    /// Ends decisions that contradict the store, or has them decided on once more.
    func dismiss(_ outcome: Scheduler.Outcome, at now: Moment) {
        for decision in outcome.refused {
            let account = decision.record.account
            switch outcome.causes[account.id] {
            case nil: continue
            case .noSuchAccount: answerWaiters(of: account.id, with: .removed)
            case let cause?:
                changeLog.contradicted(cause, account.name)
                if scheduler.putAgain(decision) {
                    wake()
                } else {
                    answerWaiters(of: account.id, with: .storeFailed(StoreTrouble(error: cause, since: now)))
                }
            }
        }
    }
}
