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

    /// Forgets a caller who has gone, and removes the copy that was made for it.
    func forgetBackupCaller(_ number: Int) {
        backups.forgetWaiting(number)
        guard backups.making?.number == number else { return }
        backups.making?.caller = nil
        cutBackup()
    }

    /// Ends all backups, and removes the copies: the key changes, or the daemon stops.
    func endBackups(_ failure: StoreBackups.Failure) {
        for caller in backups.dismissAll() { caller.tell(.failure(failure)) }
        backups.removeAll()
        cutBackup()
    }

    /// Ends the backup that is being made. What is being checked is removed as soon as its check has ended.
    private func cutBackup() {
        if backups.making?.copy != nil { endBackup() }
        backups.making?.checked?.interrupt()
    }

    private func beginNextBackup() {
        guard !isStopping, let caller = backups.next() else { return }
        let number = caller.number
        do throws(StoreError) {
            let copy = try StoreCopy(of: store, for: .backup(number))
            backups.making = StoreBackups.Making(caller: caller, copy: copy, number: number)
            copyForBackup(number)
        } catch {
            caller.tell(.failure(.store(error)))
            beginNextBackup()
        }
    }

    /// Copies one batch of pages, and asks for the next turn.
    private func copyForBackup(_ number: Int) {
        guard !isStopping, let making = backups.making, making.number == number, let copy = making.copy else { return }
        let began = timebase.now()
        do throws(StoreError) {
            let finished = try copy.advance(pages: backups.batchSize.count)
            backups.batchSize.fit(to: timebase.now().elapsed(since: began))
            if let finished {
                backups.making?.copy = nil
                backups.making?.checked = finished
                return complete(finished, number)
            }
        } catch {
            making.caller?.tell(.failure(.store(error)))
            return endBackup()
        }
        queue.async { [weak self] in
            self?.assumeIsolated { $0.copyForBackup(number) }
        }
    }

    private func complete(_ copy: FinishedCopy, _ number: Int) {
        // A queue of its own, once: what else blocks is not to wait for a minute.
        DispatchQueue(label: "authrefreshd.backup", qos: .utility).async { [weak self, queue] in
            let result = Result { () throws(StoreError) in try copy.makeBackup() }
            queue.async { [weak self] in
                self?.assumeIsolated { $0.completed(copy, number, result) }
            }
        }
    }

    private func completed(_ copy: FinishedCopy, _ number: Int, _ result: Result<Void, StoreError>) {
        let caller = backups.making?.caller
        switch result {
        case .success:
            guard let caller, !isStopping else {
                copy.remove()
                break
            }
            backups.keep(copy, for: number)
            queue.asyncAfter(deadline: .now() + .microseconds(Int(backups.kept.microseconds))) { [weak self] in
                self?.assumeIsolated { $0.backups.remove(number) }
            }
            caller.tell(.success(StoreBackups.Copy(path: copy.path, keys: copy.keyIdentifiers)))
        case .failure(let error):
            caller?.tell(.failure(.store(error)))
        }
        endBackup()
    }

    /// Ends the backup that is being made, and begins the next.
    private func endBackup() {
        backups.making?.copy?.discard()
        backups.making = nil
        beginNextBackup()
        if isStopping { wake() }
    }
}
