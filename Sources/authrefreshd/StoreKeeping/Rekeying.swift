internal import AccountStorage
internal import Dispatch
internal import RefreshCore

/// A change of the store's key that is under way.
struct Rekeying: Sendable {
    /// How far it is.
    struct Progress: Hashable, Sendable {
        /// Accounts that are sealed with the new key.
        var accounts = 0
        /// Secrets that open with no key.
        var unreadable = 0
    }

    /// How it ended.
    struct Outcome: Hashable, Sendable {
        var progress: Progress
        /// The new key's name.
        var key: String
        var place: StoreKeyPlace
        /// What kept the old key from being destroyed; nil if it is.
        var leftover: StoreKeyError?
    }

    enum Failure: Error, Hashable, Sendable {
        case key(StoreKeyError)
        case store(StoreError)
        /// The daemon stops; the change goes on when it is started again.
        case interrupted
    }

    /// What those who wait for it are told.
    enum News: Sendable {
        case progress(Progress)
        case end(Result<Outcome, Failure>)
    }

    private(set) var progress = Progress()
    /// How many accounts the next batch brings over.
    private var batchSize = BatchSize()
    private var followers: [Int: @Sendable (News) -> Void] = [:]
    private var lastFollower = 0
    /// When the followers were told last.
    private var toldAt: Moment?

    /// - Parameter tell: must not call back into the coordinator.
    /// - Returns: the follower's number, to forget it by.
    mutating func follow(_ tell: @escaping @Sendable (News) -> Void) -> Int {
        lastFollower += 1
        followers[lastFollower] = tell
        return lastFollower
    }

    mutating func forget(_ number: Int) {
        followers[number] = nil
    }

    /// Brings over one batch.
    ///
    /// - Returns: whether nothing is sealed with the old key any more.
    mutating func reseal(_ store: AccountStore, clock: () -> Moment) throws(StoreError) -> Bool {
        let began = clock()
        let batch = try store.reseal(limit: batchSize.count)
        batchSize.fit(to: clock().elapsed(since: began))
        progress.accounts += batch.accounts
        progress.unreadable += batch.unreadable
        return batch.isLast
    }

    /// Tells the followers how far it is, once a second.
    mutating func tellProgress(at now: Moment) {
        guard toldAt.map({ now.elapsed(since: $0) >= .seconds(1) }) ?? true else { return }
        toldAt = now
        tell(.progress(progress))
    }

    func tell(_ news: News) {
        for follower in followers.values { follower(news) }
    }
}

/// Changing the store's key: the new key is kept safe first, then the secrets are brought over in batches, callers and refreshes
/// having their turns in between, then the old key is destroyed.
extension RefreshCoordinator {
    /// Changes the store's key, or joins the change that is under way; `tell` is called as it goes on, on this queue.
    ///
    /// - Returns: the follower's number, to forget it by.
    func rekey(_ tell: @escaping @Sendable (Rekeying.News) -> Void) -> Int {
        var joined = rekeying ?? Rekeying()
        let number = joined.follow(tell)
        let isNew = rekeying == nil
        rekeying = joined
        // A change that was given up for the day goes on with the key it has.
        if isNew, store.isBeingResealed {
            reseal()
        } else if isNew {
            Task { await beginRekeying() }
        }
        return number
    }

    /// Forgets a follower who has gone; the change goes on.
    func forgetFollower(_ number: Int) {
        rekeying?.forget(number)
    }

    /// Goes on with a change that an earlier daemon began.
    func resumeRekeying() throws(StoreError) {
        if store.isBeingResealed {
            rekeying = Rekeying()
            reseal()
        } else if try store.retiredKeyIdentifier() != nil {
            rekeying = Rekeying()
            Task { await destroyRetiredKey() }
        }
    }

    private func beginRekeying() async {
        let (keyring, present) = (keyring, store.keyIdentifier)
        let next = await BlockingCall.result { () throws(StoreKeyError) in try keyring.next(after: present) }
        guard !isStopping else { return }
        switch next {
        case .failure(let error): endRekeying(with: .failure(.key(error)))
        case .success(let new):
            do throws(StoreError) {
                try store.beginRekey(to: new.key)
            } catch {
                return endRekeying(with: .failure(.store(error)))
            }
            reseal()
        }
    }

    /// Brings over one batch, and asks for the next turn.
    func reseal() {
        guard !isStopping, rekeying != nil else { return }
        let now = timebase.now()
        do throws(StoreError) {
            guard trouble == nil else { return resealLater() }
            // They would need the old key too, which is destroyed in the end.
            endBackups(.store(.beingResealed(path: store.path)))
            if try rekeying?.reseal(store, clock: timebase.now) == true {
                Task { await destroyRetiredKey() }
                return
            }
        } catch  where error.isDamage {
            // Perhaps a page that nothing else reads: the daemon goes on, with both keys, and the change at the next start or
            // command.
            changeLog.rekeyFailed(error)
            return endRekeying(with: .failure(.store(error)))
        } catch {
            storeFailed(error, with: [], at: now)
            wake()
            return resealLater()
        }
        rekeying?.tellProgress(at: now)
        queue.async { [weak self] in
            self?.assumeIsolated { $0.reseal() }
        }
    }

    /// The store cannot be written now; it is tried again as often as everything else is.
    private func resealLater() {
        let delay = StoreTrouble.retryInterval.components.seconds
        queue.asyncAfter(deadline: .now() + .seconds(Int(delay))) { [weak self] in
            self?.assumeIsolated { $0.reseal() }
        }
    }

    /// Nothing is sealed with the old key any more.
    private func destroyRetiredKey() async {
        let (keyring, present) = (keyring, store.keyIdentifier)
        let settled = await BlockingCall.result { () throws(StoreKeyError) in try keyring.settle(on: present) }
        guard !isStopping, let progress = rekeying?.progress else { return }
        var outcome = Rekeying.Outcome(progress: progress, key: present, place: keyring.place(of: present))
        switch settled {
        case .success:
            // Should this fail, the next daemon destroys once more what is gone already.
            try? store.forgetRetiredKey()
        case .failure(let error):
            outcome.leftover = error
        }
        changeLog.rekeyed(outcome)
        keyFound()
        endRekeying(with: .success(outcome))
    }

    /// Tells those who follow the change that it is over; without one it does nothing.
    func endRekeying(with result: Result<Rekeying.Outcome, Rekeying.Failure>) {
        let ended = rekeying
        rekeying = nil
        ended?.tell(.end(result))
    }
}

extension StoreError {
    /// A part of the file fails whoever asks for it, now and later.
    fileprivate var isDamage: Bool {
        switch self {
        case .corrupt, .inputOutput: true
        case .inUse, .notADatabase, .notAStore, .newerSchema, .olderSchema, .wrongKey, .gone, .readOnly, .diskFull,
            .cannotOpen,
            .notOurs,
            .refused, .sealBroken, .damagedRow, .staleGeneration, .refreshTokenMissing, .noSuchAccount, .nameTaken,
            .noSuchIssuer, .backupExists, .beingResealed, .backupDamaged,
            .notRestorable:
            false
        }
    }
}
