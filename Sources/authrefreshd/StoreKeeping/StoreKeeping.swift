internal import AccountStorage
internal import Foundation
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// Keeps the store: notes that it fails, and has it backed up, checked and sealed with another key while it is in use.
///
/// Long work is done in pieces, and callers and refreshes have their turns between two of them.
final class StoreKeeping {
    /// A piece of work whose turn has come, or what has become of one.
    enum Turn: Sendable {
        case reseal
        case copyForBackup(Int)
        case backupChecked(FinishedCopy, Int, Result<Void, StoreError>)
        case removeBackup(Int)
        case copyForCheck
        case checked(StoreCheck.Portion)
        case checkEnded
    }

    /// What is to be done elsewhere.
    enum Step {
        /// In another turn of the queue, at once or after a while.
        case turn(Turn, after: Duration?)
        /// On a queue of its own, once, because it takes a minute: what else blocks is not to wait for it. It tells of turns.
        case block(label: String, @Sendable (@Sendable (Turn) -> Void) -> Void)
        case beginRekeying
        case destroyRetiredKey
        /// The store has failed: everybody is to know.
        case failed(StoreError)
        case statusChanged
        case wake
    }

    private let store: AccountStore
    private let timebase: Timebase
    private let changeLog: ChangeLog
    /// What keeps the store from being written; nil if nothing does. Whoever begins something reads it.
    private(set) var trouble: StoreTrouble?
    /// What the daemon works on without; shown to people.
    private(set) var degradation = Degradation()
    /// Where the store's key is; shown to people.
    private(set) var keyring: StoreKeyring
    /// The change of the store's key that is under way; nil if there is none.
    private var rekeying: Rekeying?
    /// The check of the store that is under way; nil if there is none.
    private var checking: StoreChecking?
    /// Not private for tests, which make its pieces large or small.
    var backups = StoreBackups()
    /// Tell when one of the store's files is removed or comes back: the database and its log.
    private var watches: [PathWatch] = []
    /// Whether the daemon ends, and nothing is begun any more.
    private var isStopping = false

    init(store: AccountStore, keyring: StoreKeyring, timebase: Timebase, changeLog: ChangeLog) {
        self.store = store
        self.keyring = keyring
        self.timebase = timebase
        self.changeLog = changeLog
    }

    func use(_ keyring: StoreKeyring) { self.keyring = keyring }

    func useSecretService(_ isUsed: Bool) { keyring.useSecretService(isUsed) }

    // MARK: Trouble

    /// Notes that the store has failed.
    func noteFailure(_ error: StoreError, at now: Moment) -> StoreTrouble {
        if trouble == nil { changeLog.storeFailed(error) }
        let trouble = StoreTrouble(error: error, since: now)
        self.trouble = trouble
        return trouble
    }

    /// Notes that the store can be written.
    ///
    /// - Returns: whether that is news.
    func noteSuccess() -> Bool {
        guard trouble != nil else { return false }
        trouble = nil
        changeLog.storeRecovered()
        return true
    }

    /// Makes sure that the answer of a server can be stored, before the server is asked for what it gives only once.
    ///
    /// - Throws: `StoreError` if nothing can be written now.
    func checkIsWritable() throws(StoreError) {
        if let trouble { throw trouble.error }
        try store.probe()
    }

    /// Has the paths of the store's files watched, so that the removal of one is noticed before the next refresh is due.
    ///
    /// - Parameter onChange: called once, on any thread; the paths are to be watched anew then.
    func watchFiles(_ onChange: @escaping @Sendable () -> Void) {
        for watch in watches { watch.cancel() }
        watches = [store.path, store.path + "-wal"].compactMap { PathWatch($0, onChange: onChange) }
    }

    func descriptorsChanged(areLacking: Bool) {
        degradation.descriptors = areLacking
    }

    // MARK: Metadata

    /// What an authorization server published about itself; nil if it is not known, or cannot be read.
    func metadata(at place: KeptMetadata.Place) -> KeptMetadata? {
        guard let kept = try? store.serverMetadata.documents(of: place.issuer, caFile: place.caFile ?? "") else {
            return nil
        }
        return KeptMetadata(documents: kept.documents.map { Array($0) }, fetchedAt: kept.fetchedAt)
    }

    func keep(_ metadata: KeptMetadata, at place: KeptMetadata.Place) {
        guard trouble == nil else { return }
        let kept = ServerMetadataTable.Documents(
            documents: metadata.documents.map { Data($0) },
            fetchedAt: metadata.fetchedAt
        )
        // What is lost here is fetched again at the next start, or in a day.
        try? store.serverMetadata.keep(kept, of: place.issuer, caFile: place.caFile ?? "")
    }

    // MARK: Turns

    func take(_ turn: Turn) -> [Step] {
        guard !isStopping else { return ended(turn) }
        switch turn {
        case .reseal: return reseal()
        case .copyForBackup(let number): return steps(after: backups.copyMore(number, clock: timebase.now))
        case .backupChecked(let copy, let number, let result):
            let isKept = backups.completed(copy, result, isOver: false)
            return (isKept ? [.turn(.removeBackup(number), after: backups.kept)] : []) + beginNextBackup()
        case .removeBackup(let number): backups.remove(number)
        case .copyForCheck: return copyForCheck()
        case .checked(let portion): checked(portion)
        case .checkEnded: endChecking(failure: nil)
        }
        return []
    }

    /// What is done about a turn that comes when the daemon ends.
    private func ended(_ turn: Turn) -> [Step] {
        switch turn {
        case .backupChecked(let copy, _, let result):
            _ = backups.completed(copy, result, isOver: true)
            // The end waits for it.
            return [.wake]
        case .removeBackup(let number): backups.remove(number)
        // A check whose copy is complete goes on until the daemon has ended, and those who wait for it are told.
        case .checked(let portion): checked(portion)
        case .checkEnded: endChecking(failure: nil)
        case .reseal, .copyForBackup, .copyForCheck: break
        }
        return []
    }

    // MARK: The end

    /// Whether the end of the daemon has to wait for nothing of this.
    var isIdle: Bool { backups.underWay == nil }

    /// From now on nothing is begun.
    func stop() -> [Step] {
        isStopping = true
        return endBackups(.interrupted)
    }

    /// Tells all who wait that it is over.
    func end() -> [Step] {
        endRekeying(with: .failure(.interrupted))
        endChecking(failure: .interrupted)
        return endBackups(.interrupted)
    }
}

// MARK: - Backups

extension StoreKeeping {
    /// Makes a backup beside the store, after those that were asked for before: it is copied in batches, and the copy is checked and
    /// synced on a thread that nobody else waits for.
    ///
    /// - Parameter tell: is given the copy, which the caller opens at once: its name is removed after `CallerLimits.backupKept`. It must
    ///   not call
    ///   back.
    /// - Returns: the caller's number, to forget it by.
    /// - Throws: `beingResealed` while a change of the key makes progress: at its end the old key is destroyed, which the copy would
    ///   need. A change that is stuck keeps both keys for as long as somebody needs to look into it, and is a reason for a backup.
    func backUp(
        _ tell: @escaping @Sendable (Result<StoreBackups.Copy, StoreBackups.Failure>) -> Void
    ) throws(StoreError) -> (number: Int, [Step]) {
        if store.rekeying.isBeingResealed, rekeying != nil, trouble == nil { throw .beingResealed(path: store.path) }
        let number = backups.enqueue(tell)
        return (number, beginNextBackup())
    }

    /// Forgets a backup's caller who has gone.
    func forgetBackupCaller(_ number: Int) -> [Step] {
        steps(after: backups.forget(number))
    }

    /// Ends all backups, and removes the copies: the key changes, or the daemon stops.
    fileprivate func endBackups(_ failure: StoreBackups.Failure) -> [Step] {
        steps(after: backups.endAll(failure))
    }

    fileprivate func beginNextBackup() -> [Step] {
        // The end waits for the one that was under way.
        guard !isStopping else { return [.wake] }
        return steps(after: backups.beginNext(of: store, clock: timebase.now))
    }

    fileprivate func steps(after step: StoreBackups.Step?) -> [Step] {
        switch step {
        case nil: []
        case .next: beginNextBackup()
        case .copyMore(let number): [.turn(.copyForBackup(number), after: nil)]
        case .check(let copy, let number):
            [
                .block(label: "authrefreshd.backup") { tell in
                    let result = Result { () throws(StoreError) in try copy.makeBackup() }
                    tell(.backupChecked(copy, number, result))
                }
            ]
        }
    }
}

// MARK: - The check

extension StoreKeeping {
    /// Checks the store, or joins the check that is under way: it is copied in batches, and the copy is checked on a thread that nobody
    /// waits for.
    ///
    /// - Returns: the follower's number, to forget it by.
    /// - Throws: `StoreError` if the copy cannot be begun.
    func check(for follower: StoreChecking.Follower) throws(StoreError) -> (number: Int, [Step]) {
        if let number = checking?.follow(follower) { return (number, []) }
        var begun = StoreChecking(copy: try StoreCopy(of: store, for: .check))
        let number = begun.follow(follower)
        checking = begun
        return (number, copyForCheck())
    }

    /// Forgets a follower who has gone; the check goes on.
    func forgetCheckFollower(_ number: Int) {
        checking?.forget(number)
    }

    fileprivate func copyForCheck() -> [Step] {
        guard !isStopping else { return [] }
        switch checking?.copyMore(of: store.path, clock: timebase.now) {
        case nil: return []
        case .copyMore: return [.turn(.copyForCheck, after: nil)]
        case .end(let failure):
            endChecking(failure: failure)
            return []
        case .check(let copy):
            let defences = StoreGuard(path: store.path, keyIdentifier: store.rekeying.keyIdentifier, keyring: keyring)
            let wall = timebase.now().wall
            return [
                .block(label: "authrefreshd.check") { tell in
                    tell(.checked(StoreCheck.Portion(findings: defences.findings())))
                    StoreCheck.run(on: copy, at: wall) { tell(.checked($0)) }
                    // Behind the last portion, which is on its way.
                    tell(.checkEnded)
                }
            ]
        }
    }

    fileprivate func checked(_ portion: StoreCheck.Portion) {
        checking?.add(portion)
        checking?.tellProgress(at: timebase.now())
    }

    /// Tells those who wait for the check that it is over; without one it does nothing.
    ///
    /// - Parameter failure: why it did not come to its end; nil if it did.
    fileprivate func endChecking(failure: StoreChecking.Failure?) {
        let ended = checking
        checking = nil
        ended?.end(failure: failure)
    }
}

// MARK: - The store's key

extension StoreKeeping {
    /// Whether the store's key is being changed, or a change has come to a halt.
    var isRekeying: Bool { rekeying != nil || store.rekeying.isBeingResealed }

    /// Changes the store's key, or joins the change that is under way: the new key is kept safe first, then the secrets are brought over in
    /// batches, then the old key is destroyed.
    ///
    /// - Parameter tell: called as it goes on; must not call back.
    /// - Returns: the follower's number, to forget it by.
    func rekey(_ tell: @escaping @Sendable (Rekeying.News) -> Void) -> (number: Int, [Step]) {
        var joined = rekeying ?? Rekeying()
        let number = joined.follow(tell)
        let isNew = rekeying == nil
        rekeying = joined
        guard isNew else { return (number, []) }
        // A change that was given up for the day goes on with the key it has.
        return (number, store.rekeying.isBeingResealed ? reseal() : [.beginRekeying])
    }

    /// Forgets a follower who has gone; the change goes on.
    func forgetRekeyFollower(_ number: Int) {
        rekeying?.forget(number)
    }

    /// Goes on with a change that an earlier daemon began.
    func resumeRekeying() throws(StoreError) -> [Step] {
        if store.rekeying.isBeingResealed {
            rekeying = Rekeying()
            return reseal()
        }
        guard try store.rekeying.retiredKeyIdentifier() != nil else { return [] }
        rekeying = Rekeying()
        return [.destroyRetiredKey]
    }

    /// Has the new key made, and begins with the secrets.
    func beginRekeying() async -> [Step] {
        let (keyring, present) = (keyring, store.rekeying.keyIdentifier)
        let next = await BlockingCall.result { () throws(StoreKeyError) in try keyring.next(after: present) }
        guard !isStopping else { return [] }
        switch next {
        case .failure(let error): endRekeying(with: .failure(.key(error)))
        case .success(let new):
            do throws(StoreError) {
                try store.rekeying.begin(to: new.key)
            } catch {
                endRekeying(with: .failure(.store(error)))
                return []
            }
            return reseal()
        }
        return []
    }

    /// Brings over one batch, and asks for the next turn.
    fileprivate func reseal() -> [Step] {
        guard !isStopping, rekeying != nil else { return [] }
        // The store cannot be written now; it is tried again as often as everything else is.
        let later = Step.turn(.reseal, after: StoreTrouble.retryInterval)
        guard trouble == nil else { return [later] }
        // They would need the old key too, which is destroyed in the end.
        let before = endBackups(.store(.beingResealed(path: store.path)))
        do throws(StoreError) {
            if try rekeying?.reseal(store, clock: timebase.now) == true { return before + [.destroyRetiredKey] }
        } catch  where error.isDamage {
            // Perhaps a page that nothing else reads: the daemon goes on, with both keys, and the change at the next start or
            // command.
            changeLog.rekeyFailed(error)
            endRekeying(with: .failure(.store(error)))
            return before
        } catch {
            return before + [.failed(error), .wake, later]
        }
        rekeying?.tellProgress(at: timebase.now())
        return before + [.turn(.reseal, after: nil)]
    }

    /// Nothing is sealed with the old key any more.
    func destroyRetiredKey() async -> [Step] {
        let (keyring, present) = (keyring, store.rekeying.keyIdentifier)
        let settled = await BlockingCall.result { () throws(StoreKeyError) in try keyring.settle(on: present) }
        guard !isStopping, let progress = rekeying?.progress else { return [] }
        var outcome = Rekeying.Outcome(progress: progress, key: present, place: keyring.place(of: present))
        switch settled {
        case .success:
            // Should this fail, the next daemon destroys once more what is gone already.
            try? store.rekeying.forgetRetiredKey()
        case .failure(let error):
            outcome.leftover = error
        }
        changeLog.rekeyed(outcome)
        keyFound()
        endRekeying(with: .success(outcome))
        return []
    }

    /// Tells those who follow the change that it is over; without one it does nothing.
    fileprivate func endRekeying(with result: Result<Rekeying.Outcome, Rekeying.Failure>) {
        let ended = rekeying
        rekeying = nil
        ended?.tell(.end(result))
    }

    /// Looks whether the next daemon would find the store's key; a keyring that is locked or away for the moment says nothing of that.
    func checkKey() async -> [Step] {
        let (keyring, identifier) = (keyring, store.rekeying.keyIdentifier)
        let place = await BlockingCall.result(within: Diagnosis.fileLimit) {
            Result { () throws(StoreKeyError) in try keyring.locate(identifier) }
        }
        // A change of the key that began or ended meanwhile has taken away the one that was looked for; it looks after the new one itself.
        guard rekeying == nil, store.rekeying.keyIdentifier == identifier else { return [] }
        switch place {
        case .success: keyFound()
        case .failure(let error) where !error.isPassing:
            if degradation.key == nil { changeLog.write(.keyGone, [JournalKey.error: "\(error.description)"]) }
            degradation.key = error
        case nil, .failure: return []
        }
        return [.statusChanged]
    }

    /// Notes that the key is where it is looked for.
    private func keyFound() {
        guard degradation.key != nil else { return }
        degradation.key = nil
        changeLog.write(.keyReturned)
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
