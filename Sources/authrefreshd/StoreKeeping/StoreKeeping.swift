internal import AccountStorage
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// Keeps the store working: it records failures, and runs backups, checks and key changes while the store is in use.
///
/// Long work is done in pieces, with turns for callers and refreshes between them.
final class StoreKeeping {
    /// A piece of work that is due, or the result of one.
    enum Turn: Sendable {
        case reseal
        case copyForBackup(Int)
        case backupChecked(FinishedCopy, Int, Result<Void, StoreError>)
        case removeBackup(Int)
        case copyForCheck
        case checked(StoreCheck.Portion)
        case checkEnded
    }

    /// What the coordinator has to do.
    enum Effect {
        /// Run this turn later on the queue, at once or after a while.
        case turn(Turn, after: Duration?)
        /// Run it once on a queue of its own. It takes a minute, and other blocking calls should not wait for it. It
        /// reports turns.
        case block(label: String, @Sendable (@Sendable (Turn) -> Void) -> Void)
        case beginRekeying
        case destroyRetiredKey
        /// Tell everybody that the store has failed.
        case failed(StoreError)
        case statusChanged
        case wake
    }

    private let store: AccountStore
    private let timebase: Timebase
    private let changeLog: ChangeLog
    /// Why the store cannot be written; nil if it can. It is checked before anything begins.
    private(set) var trouble: StoreOutage?
    /// What the daemon currently works without; shown to people.
    private(set) var degradation = Degradation()
    /// Where the store's key is; shown to people.
    private(set) var keyring: StoreKeyring
    /// The change of the store's key that is under way; nil if there is none.
    private var rekeying: Rekeying?
    /// The check of the store that is under way; nil if there is none.
    private var checking: StoreChecking?
    /// Not private, because tests change the size of its pieces.
    var backups = StoreBackups()
    /// The watches on the store's files, the database and its log. They report when one is removed or comes back.
    private var watches: [PathWatch] = []
    /// Whether the log says that inotify does not watch the files.
    private var isUnwatchedTold = false
    /// Whether the daemon is stopping, and nothing new may begin.
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

    /// Records that the store has failed.
    func noteFailure(_ error: StoreError, at now: Moment) -> StoreOutage {
        if trouble == nil { changeLog.write(.storeUnwritable(error)) }
        let trouble = StoreOutage(error: error, since: now)
        self.trouble = trouble
        return trouble
    }

    /// Records that the store can be written.
    ///
    /// - Returns: whether that is new.
    func noteSuccess() -> Bool {
        guard trouble != nil else { return false }
        trouble = nil
        changeLog.write(.storeRecovered)
        return true
    }

    /// Makes sure that a server's answer can be stored before the server is asked for something that it issues only
    /// once.
    ///
    /// - Throws: `StoreError` if nothing can be written now.
    func checkIsWritable() throws(StoreError) {
        if let trouble { throw trouble.error }
        try store.probe()
    }

    /// Watches the paths of the store's files, so that a removal is noticed before the next refresh is due.
    ///
    /// - Parameter onChange: called once, on any thread. After that, the paths must be watched again.
    func watchFiles(_ onChange: @escaping @Sendable () -> Void) {
        endWatches()
        watches = [store.path, store.path + "-wal"].map { PathWatch($0, onChange: onChange) }
        let failure = watches.compactMap(\.failure).first
        if let failure, !isUnwatchedTold {
            let period = PathWatch.period.components.seconds
            changeLog.write(
                .machineUnwatched(failure, consequence: "the store's files are checked every \(period) s instead")
            )
        }
        isUnwatchedTold = failure != nil
    }

    private func endWatches() {
        for watch in watches { watch.cancel() }
        watches = []
    }

    func descriptorsChanged(areLacking: Bool) {
        degradation.descriptors = areLacking
    }

    // MARK: Metadata

    /// The stored metadata of an authorization server; nil if there is none, or if it cannot be read.
    func metadata(at place: KeptMetadata.Place) -> KeptMetadata? {
        (try? store.serverMetadata.documents(of: place.issuer, caFile: place.caFile ?? ""))
            .map { KeptMetadata(documents: $0.documents, fetchedAt: $0.fetchedAt) }
    }

    /// Stores the metadata. Returns false if no account has its issuer.
    func keep(_ metadata: KeptMetadata, at place: KeptMetadata.Place) -> Bool {
        guard trouble == nil else { return true }
        let (documents, time, caFile) = (metadata.documents, metadata.fetchedAt, place.caFile ?? "")
        // If this fails, the metadata is fetched again at the next start, or in a day.
        return (try? store.serverMetadata.keep(documents, fetchedAt: time, of: place.issuer, caFile: caFile)) ?? true
    }

    // MARK: Turns

    func run(_ turn: Turn) -> [Effect] {
        guard !isStopping else { return ended(turn) }
        switch turn {
        case .reseal: return reseal()
        case .copyForBackup(let number):
            return [backups.copyMore(number, of: store, clock: timebase.now)].compactMap(\.self)
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

    /// Handles a turn that comes while the daemon ends.
    private func ended(_ turn: Turn) -> [Effect] {
        switch turn {
        case .backupChecked(let copy, _, let result):
            _ = backups.completed(copy, result, isOver: true)
            // The daemon's end waits for it.
            return [.wake]
        case .removeBackup(let number): backups.remove(number)
        // The check of a complete copy continues until the daemon has ended, and its followers are told.
        case .checked(let portion): checked(portion)
        case .checkEnded: endChecking(failure: nil)
        case .reseal, .copyForBackup, .copyForCheck: break
        }
        return []
    }

    // MARK: The end

    /// Whether the daemon can end without waiting for this.
    var isIdle: Bool { backups.underWay == nil }

    /// Allows nothing new from now on.
    func stop() -> [Effect] {
        isStopping = true
        endWatches()
        return endBackups(.interrupted)
    }

    /// Tells all followers that it is over.
    func end() -> [Effect] {
        endRekeying(with: .failure(.interrupted))
        endChecking(failure: .interrupted)
        return endBackups(.interrupted)
    }
}

// MARK: - Backups

extension StoreKeeping {
    /// Makes a backup next to the store, after those that were requested before. It is copied in batches, and the copy
    /// is checked and synced on a thread that nobody else waits for.
    ///
    /// - Parameter tell: receives the copy, which the caller must open at once, because its name is removed after
    ///   `CallerLimits.backupKept`. It must not call back.
    /// - Returns: the caller's number, for `forgetBackupCaller`.
    /// - Throws: `beingResealed` while a change of the key makes progress. At its end, the old key is destroyed, and
    ///   the copy would need it. A change that is stuck keeps both keys until somebody looks into it, and then a backup
    ///   makes sense.
    func backUp(
        _ tell: @escaping @Sendable (Result<FinishedCopy, StoreKeepingError>) -> Void
    ) throws(StoreError) -> (number: Int, effects: [Effect]) {
        if store.rekeying.isBeingResealed, rekeying != nil, trouble == nil { throw .beingResealed(path: store.path) }
        let number = backups.enqueue(tell)
        return (number, beginNextBackup())
    }

    /// Removes a backup's caller that has gone.
    func forgetBackupCaller(_ number: Int) -> [Effect] {
        backups.forget(number) ? beginNextBackup() : []
    }

    /// Ends all backups and removes the copies, because the key changes or the daemon stops.
    fileprivate func endBackups(_ failure: StoreKeepingError) -> [Effect] {
        backups.endAll(failure) ? beginNextBackup() : []
    }

    fileprivate func beginNextBackup() -> [Effect] {
        // The daemon's end waits for the backup that was being made.
        guard !isStopping else { return [.wake] }
        return [backups.beginNext(of: store, clock: timebase.now)].compactMap(\.self)
    }
}

// MARK: - The check

extension StoreKeeping {
    /// Checks the store, or joins the current check. The store is copied in batches, and the copy is checked on a
    /// thread that nobody waits for.
    ///
    /// - Returns: the follower's number, for `forgetCheckFollower`.
    /// - Throws: `StoreError` if the copy cannot be started.
    func check(for follower: StoreChecking.Follower) throws(StoreError) -> (number: Int, effects: [Effect]) {
        if let number = checking?.follow(follower) { return (number, []) }
        var begun = StoreChecking(copy: try StoreCopy(of: store, for: .check))
        let number = begun.follow(follower)
        checking = begun
        return (number, copyForCheck())
    }

    /// Removes a follower that has gone. The check continues.
    func forgetCheckFollower(_ number: Int) {
        checking?.forget(number)
    }

    fileprivate func copyForCheck() -> [Effect] {
        guard !isStopping, checking?.isCopying == true else { return [] }
        do throws(StoreError) {
            guard let copy = try checking?.copyMore(clock: timebase.now) else {
                return [.turn(.copyForCheck, after: nil)]
            }
            let (keyring, path, key, wall) = (keyring, store.path, store.rekeying.keyIdentifier, timebase.now().wall)
            return [
                .block(label: "authrefreshd.check") { tell in
                    tell(.checked(StoreCheck.Portion(findings: keyring.findings(about: path, sealedWith: key))))
                    StoreCheck.run(on: copy, at: wall) { tell(.checked($0)) }
                    // This report comes after the last portion, which is still on its way.
                    tell(.checkEnded)
                }
            ]
        } catch {
            switch error {
            case .corrupt, .notADatabase:
                // This is what the check should find.
                checking?.add(StoreCheck.Portion(findings: [.unreadable(path: store.path, error)]))
                endChecking(failure: nil)
            // The disk is full or fails. That says nothing about the store.
            default: endChecking(failure: .store(error))
            }
            return []
        }
    }

    fileprivate func checked(_ portion: StoreCheck.Portion) {
        checking?.add(portion)
        checking?.tellProgress(at: timebase.now())
    }

    /// Tells the followers of the check that it is over; does nothing without a check.
    ///
    /// - Parameter failure: why it ended early; nil if it did not.
    fileprivate func endChecking(failure: StoreKeepingError?) {
        let ended = checking
        checking = nil
        ended?.end(failure: failure)
    }
}

// MARK: - The store's key

extension StoreKeeping {
    /// Whether the store's key is being changed, or a change has stopped half-way.
    var isRekeying: Bool { rekeying != nil || store.rekeying.isBeingResealed }

    /// Changes the store's key, or joins the current change. First the new key is stored safely, then the secrets are
    /// resealed in batches, then the old key is destroyed.
    ///
    /// - Parameter tell: receives the progress; must not call back.
    /// - Returns: the follower's number, for `forgetRekeyFollower`.
    func rekey(_ tell: @escaping @Sendable (Rekeying.News) -> Void) -> (number: Int, effects: [Effect]) {
        var joined = rekeying ?? Rekeying()
        let number = joined.follow(tell)
        let isNew = rekeying == nil
        rekeying = joined
        guard isNew else { return (number, []) }
        // A change that was paused continues with its new key.
        return (number, store.rekeying.isBeingResealed ? reseal() : [.beginRekeying])
    }

    /// Removes a follower that has gone. The change continues.
    func forgetRekeyFollower(_ number: Int) {
        rekeying?.forget(number)
    }

    /// Continues a change that an earlier daemon began.
    func resumeRekeying() throws(StoreError) -> [Effect] {
        if store.rekeying.isBeingResealed {
            rekeying = Rekeying()
            return reseal()
        }
        guard try store.rekeying.retiredKeyIdentifier() != nil else { return [] }
        rekeying = Rekeying()
        return [.destroyRetiredKey]
    }

    /// Creates the new key, and begins with the secrets.
    func beginRekeying() async -> [Effect] {
        do throws(StoreError) {
            // Otherwise the new key would be put beside another store, or into a folder that no store is in.
            try store.checkPlace()
            let (keyring, present) = (keyring, store.rekeying.keyIdentifier)
            let next = await BlockingCall.result { () throws(StoreKeyError) in try keyring.next(after: present) }
            guard !isStopping else { return [] }
            try store.rekeying.begin(to: next.mapError(StoreError.key).get().key)
        } catch {
            endRekeying(with: .failure(.store(error)))
            return []
        }
        return reseal()
    }

    /// Reseals one batch, and requests the next turn.
    fileprivate func reseal() -> [Effect] {
        guard !isStopping, rekeying != nil else { return [] }
        // The store cannot be written now. Try again as often as everything else.
        let later = Effect.turn(.reseal, after: StoreOutage.retryInterval)
        guard trouble == nil else { return [later] }
        // Backups would also need the old key, which is destroyed in the end.
        let before = endBackups(.store(.beingResealed(path: store.path)))
        do throws(StoreError) {
            if try rekeying?.reseal(store, clock: timebase.now) == true { return before + [.destroyRetiredKey] }
        } catch  where error.isDamage {
            // The damage may be on a page that is needed for nothing else. So the daemon continues with both keys, and
            // the change continues at the next start or command.
            changeLog.write(.rekeyStopped(error))
            endRekeying(with: .failure(.store(error)))
            return before
        } catch {
            return before + [.failed(error), .wake, later]
        }
        rekeying?.tellProgress(at: timebase.now())
        return before + [.turn(.reseal, after: nil)]
    }

    /// Destroys the old key, with which nothing is sealed any more.
    func destroyRetiredKey() async -> [Effect] {
        let (keyring, present) = (keyring, store.rekeying.keyIdentifier)
        let retiredPlace: StoreKeyPlace?
        do throws(StoreError) {
            retiredPlace = try await recordRetiredKeyPlace()
        } catch {
            // The next daemon destroys the key.
            endRekeying(with: .failure(.store(error)))
            return [.failed(error), .wake]
        }
        guard !isStopping else { return [] }
        let settled = await BlockingCall.result { () throws(StoreKeyError) in
            try keyring.settle(on: present, retiredFrom: retiredPlace)
        }
        // This reads the key files.
        let place = await BlockingCall.result { keyring.place(of: present) }.get()
        guard !isStopping, let progress = rekeying?.progress else { return [] }
        var outcome = Rekeying.Outcome(progress: progress, key: present, place: place)
        switch settled {
        case .success:
            // If this fails, the next daemon destroys again what is already gone.
            try? store.rekeying.forgetRetiredKey()
        case .failure(let error):
            outcome.leftover = error
        }
        changeLog.write(.storeRekeyed(key: outcome.key, in: outcome.place))
        if let leftover = outcome.leftover { changeLog.write(.oldKeyKept(leftover)) }
        keyFound()
        endRekeying(with: .success(outcome))
        return []
    }

    /// Where the replaced key is. It is recorded before the key is destroyed: a daemon that is killed after that could
    /// only look for the key in a Secret Service, and this machine may have none.
    ///
    /// - Returns: nil if it is not seen: it is in a Secret Service, or in a file that cannot be read now.
    private func recordRetiredKeyPlace() async throws(StoreError) -> StoreKeyPlace? {
        let keyring = keyring
        if let recorded = try store.rekeying.retiredKeyPlace() { return recorded }
        guard let retired = try store.rekeying.retiredKeyIdentifier() else { return nil }
        let place = await BlockingCall.result { keyring.place(of: retired) }.get()
        guard place != .secretService, !isStopping else { return nil }
        try store.rekeying.setRetiredKeyPlace(place)
        return place
    }

    /// Tells the followers of the change that it is over; does nothing without a change.
    fileprivate func endRekeying(with result: Result<Rekeying.Outcome, StoreKeepingError>) {
        let ended = rekeying
        rekeying = nil
        ended?.tell(.end(result))
    }

    /// Checks whether the next daemon would find the store's key. A keyring that is locked or temporarily missing does
    /// not count.
    func checkKey() async -> [Effect] {
        let (keyring, identifier) = (keyring, store.rekeying.keyIdentifier)
        let place = await BlockingCall.result(within: Diagnosis.fileLimit) {
            Result { () throws(StoreKeyError) in try keyring.locate(identifier) }
        }
        // A change of the key that began or ended meanwhile has removed the key that was looked for. The change checks
        // the new key itself.
        guard rekeying == nil, store.rekeying.keyIdentifier == identifier else { return [] }
        switch place {
        case .success: keyFound()
        case .failure(let error) where !error.isPassing:
            if degradation.key == nil { changeLog.write(.keyGone(error)) }
            degradation.key = error
        case nil, .failure: return []
        }
        return [.statusChanged]
    }

    /// Records that the key is where it should be.
    private func keyFound() {
        guard degradation.key != nil else { return }
        degradation.key = nil
        changeLog.write(.keyReturned)
    }
}

extension StoreError {
    /// Whether a part of the file is damaged, so that reading it fails now and later.
    fileprivate var isDamage: Bool {
        if case .corrupt = self { return true }
        if case .inputOutput = self { return true }
        return false
    }
}

/// What those who follow a check or a change of the key are told.
enum KeepingNews<Progress: Sendable, Outcome: Sendable>: Sendable {
    case progress(Progress)
    case end(Result<Outcome, StoreKeepingError>)
}

/// Why a backup, a check or a change of the key ended early.
enum StoreKeepingError: Error, Hashable, Sendable {
    case store(StoreError)
    /// The daemon stops. A change of the key continues when it is started again.
    case interrupted
}
