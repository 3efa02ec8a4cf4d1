internal import AccountStorage
internal import Dispatch
internal import RefreshCore

/// Backups of the store while it is in use: it is copied in batches, callers and refreshes having their turns in between, and the copy
/// is checked and synced on a thread that nobody else waits for.
extension RefreshCoordinator {
    /// Makes a backup beside the store, after those that were asked for before.
    ///
    /// - Parameter tell: is given the copy, which the caller opens at once: its name is removed after `CallerLimits.backupKept`.
    /// - Returns: the caller's number, to forget it by.
    /// - Throws: `beingResealed` while a change of the key makes progress: at its end the old key is destroyed, which the copy would
    ///   need. A change that is stuck keeps both keys for as long as somebody needs to look into it, and is a reason for a backup.
    func backUp(
        _ tell: @escaping @Sendable (Result<StoreBackups.Copy, StoreBackups.Failure>) -> Void
    ) throws(StoreError) -> Int {
        if store.isBeingResealed, rekeying != nil, trouble == nil { throw .beingResealed(path: store.path) }
        let number = backups.enqueue(tell)
        beginNextBackup()
        return number
    }

    /// Forgets a backup's caller who has gone.
    func forgetBackupCaller(_ number: Int) {
        take(backups.forget(number))
    }

    /// Ends all backups, and removes the copies: the key changes, or the daemon stops.
    func endBackups(_ failure: StoreBackups.Failure) {
        take(backups.endAll(failure))
    }

    private func beginNextBackup() {
        // The end waits for the one that was under way.
        guard !isStopping else { return wake() }
        take(backups.beginNext(of: store, clock: timebase.now))
    }

    private func copyForBackup(_ number: Int) {
        guard !isStopping else { return }
        take(backups.copyMore(number, clock: timebase.now))
    }

    private func take(_ step: StoreBackups.Step?) {
        switch step {
        case nil: break
        case .next: beginNextBackup()
        case .copyMore(let number):
            queue.async { [weak self] in
                self?.assumeIsolated { $0.copyForBackup(number) }
            }
        case .check(let copy, let number):
            // A queue of its own, once: what else blocks is not to wait for a minute.
            DispatchQueue(label: "authrefreshd.backup", qos: .utility).async { [weak self, queue] in
                let result = Result { () throws(StoreError) in try copy.makeBackup() }
                queue.async { [weak self] in
                    self?.assumeIsolated { $0.completed(copy, number, result) }
                }
            }
        }
    }

    private func completed(_ copy: FinishedCopy, _ number: Int, _ result: Result<Void, StoreError>) {
        if backups.completed(copy, result, isOver: isStopping) {
            queue.asyncAfter(deadline: .now() + .microseconds(Int(backups.kept.microseconds))) { [weak self] in
                self?.assumeIsolated { $0.backups.remove(number) }
            }
        }
        beginNextBackup()
    }
}
