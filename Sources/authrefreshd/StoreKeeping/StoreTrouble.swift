internal import AccountStorage
internal import AuthRefreshInterface
internal import Dispatch
internal import Foundation
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// The store cannot be used at the moment; the daemon goes on with what it holds.
struct StoreTrouble: Sendable {
    let error: StoreError
    /// When it failed last.
    let since: Moment

    /// Five seconds: a full disk is noticed within one breath of being freed, and a broken one is not hammered.
    static let retryInterval = Duration.seconds(5)

    /// How long it is until the store is tried again; zero if it is time.
    func remaining(at now: Moment) -> Duration {
        max(Self.retryInterval - now.elapsed(since: since), .zero)
    }
}

/// What is done when the store fails, as a whole or for one account.
extension RefreshCoordinator {
    /// Notes that the store has failed, and tells those who wait for `arrivals`.
    func storeFailed(_ error: StoreError, with arrivals: [Arrival], at now: Moment) {
        let trouble = StoreTrouble(error: error, since: now)
        if self.trouble == nil { changeLog.storeFailed(error) }
        self.trouble = trouble
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

    /// Ends the trouble with the store.
    func storeRecovered() {
        trouble = nil
        changeLog.storeRecovered()
        statusChanged()
        // What fell due meanwhile, no timer fires for.
        wake()
    }

    /// Has the paths of the store's files watched, so that the removal of one is noticed before the next refresh is due.
    func watchStore() {
        for watch in storeWatches { watch.cancel() }
        storeWatches = [store.path, store.path + "-wal"].compactMap { path in
            PathWatch(path) { [weak self, queue] in
                queue.async { [weak self] in
                    self?.assumeIsolated { $0.storePathChanged() }
                }
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
        for account in mended where scheduler.exchanges[account] == nil {
            // Its request was another daemon's, which is dead.
            if case .refreshing? = try store.record(account)?.state.phase { submit(.exchangeAbandoned, for: account) }
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

extension StoreError {
    /// The account whose write contradicts what is stored, so that it will be refused however often it is tried; nil if the
    /// store has failed otherwise.
    var contradictedAccount: AccountID? {
        switch self {
        case .noSuchAccount(let account), .staleGeneration(let account, _, _), .refreshTokenMissing(let account, _):
            account
        // All other cases are about the file as a whole, about reading, or about another call.
        default: nil
        }
    }
}

/// What the daemon lacks, and works on without.
struct Degradation: Sendable {
    /// Descriptors for callers, who are let in one at a time.
    var descriptors = false
    /// Why the next daemon would not find the store's key; nil if it would.
    var key: StoreKeyError?

    /// A sentence for each.
    var texts: [String] {
        var texts: [String] = []
        if descriptors { texts.append("no descriptor is left, callers are let in one at a time") }
        if let key { texts.append("the store's key is gone: \(key.description)") }
        return texts
    }
}

extension RefreshCoordinator {
    /// Notes whether there are descriptors for callers.
    func descriptorsChanged(areLacking: Bool) {
        degradation.descriptors = areLacking
        statusChanged()
    }

    /// Looks whether the next daemon would find the store's key; a keyring that is locked or away for the moment says nothing of that.
    func checkKey() async {
        let (keyring, identifier) = (keyring, store.keyIdentifier)
        let place = await BlockingCall.result(within: Diagnosis.fileLimit) {
            Result { () throws(StoreKeyError) in try keyring.locate(identifier) }
        }
        // A change of the key that began or ended meanwhile has taken away the one that was looked for; it looks after the new one itself.
        guard rekeying == nil, store.keyIdentifier == identifier else { return }
        switch place {
        case .success: keyFound()
        case .failure(let error) where !error.isPassing:
            if degradation.key == nil { changeLog.write(.keyGone, [JournalKey.error: "\(error.description)"]) }
            degradation.key = error
        case nil, .failure: return
        }
        statusChanged()
    }

    /// Notes that the key is where it is looked for.
    func keyFound() {
        guard degradation.key != nil else { return }
        degradation.key = nil
        changeLog.write(.keyReturned)
    }
}

/// What authorization servers publish about themselves, kept in the store: after a restart accounts are refreshed even while it cannot
/// be fetched.
extension RefreshCoordinator {
    /// Has the client keep the metadata of servers in the store.
    func keepMetadata() {
        client.keepMetadata(
            in: MetadataShelf(
                find: { [weak self] place in await self?.metadata(at: place) },
                keep: { [weak self] place, metadata in await self?.keep(metadata, at: place) }
            )
        )
    }

    private func metadata(at place: KeptMetadata.Place) -> KeptMetadata? {
        guard !lifecycle.isOver, let kept = try? store.serverMetadata(of: place.issuer, caFile: place.caFile ?? "")
        else {
            return nil
        }
        return KeptMetadata(documents: kept.documents.map { Array($0) }, fetchedAt: kept.fetchedAt)
    }

    private func keep(_ metadata: KeptMetadata, at place: KeptMetadata.Place) {
        guard !lifecycle.isOver, trouble == nil else { return }
        let kept = AccountStore.ServerMetadata(
            documents: metadata.documents.map { Data($0) },
            fetchedAt: metadata.fetchedAt
        )
        // What is lost here is fetched again at the next start, or in a day.
        try? store.keep(kept, of: place.issuer, caFile: place.caFile ?? "")
    }
}
