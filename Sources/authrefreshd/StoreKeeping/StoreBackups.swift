internal import AccountStorage
internal import RefreshCore

/// The backups that callers request. They are made one at a time.
struct StoreBackups {
    private struct Caller {
        let number: Int
        let tell: @Sendable (Result<FinishedCopy, StoreKeepingError>) -> Void
    }

    /// The backup that is being made.
    private struct Making {
        /// The caller; nil if it has gone, or was told that there will be no copy.
        var caller: Caller?
        /// The copy until it is complete; nil while it is checked.
        var copy: StoreCopy?
        /// The complete copy that is being checked.
        var checked: FinishedCopy?
        let number: Int
    }

    /// How long a complete copy waits for its caller. Tests use a shorter time.
    var kept = CallerLimits.backupKept
    /// How many pages are copied in the next batch. Tests set it.
    var batchSize = BatchSize()
    private var making: Making?
    private var waiting: [Caller] = []
    /// Complete copies whose callers were told, by number, the oldest first.
    private var fetchable: [(number: Int, copy: FinishedCopy)] = []
    private var lastNumber = 0

    /// The number of the backup that is being made; nil if there is none.
    var underWay: Int? { making?.number }

    /// Queues a backup.
    ///
    /// - Parameter tell: must not call back into the coordinator.
    /// - Returns: the caller's number, for its removal.
    mutating func enqueue(_ tell: @escaping @Sendable (Result<FinishedCopy, StoreKeepingError>) -> Void) -> Int {
        lastNumber += 1
        waiting.append(Caller(number: lastNumber, tell: tell))
        return lastNumber
    }

    /// Begins the next backup in the queue, if none is being made.
    mutating func beginNext(of store: AccountStore, clock: () -> Moment) -> StoreKeeping.Effect? {
        while making == nil, !waiting.isEmpty {
            let caller = waiting.removeFirst()
            do throws(StoreError) {
                let copy = try StoreCopy(of: store, for: .backup(caller.number))
                making = Making(caller: caller, copy: copy, number: caller.number)
                return copyMore(caller.number, of: store, clock: clock)
            } catch {
                caller.tell(.failure(.store(error)))
            }
        }
        return nil
    }

    /// Copies one batch of pages. The complete copy is checked on a thread that nobody else waits for.
    mutating func copyMore(_ number: Int, of store: AccountStore, clock: () -> Moment) -> StoreKeeping.Effect? {
        guard let making, making.number == number, let copy = making.copy else { return nil }
        let began = clock()
        do throws(StoreError) {
            let finished = try copy.advance(pages: batchSize.count)
            batchSize.fit(to: clock().elapsed(since: began))
            guard let finished else { return .turn(.copyForBackup(number), after: nil) }
            self.making?.copy = nil
            self.making?.checked = finished
            return .block(label: "authrefreshd.backup") { tell in
                let result = Result { () throws(StoreError) in try finished.makeBackup() }
                tell(.backupChecked(finished, number, result))
            }
        } catch {
            making.caller?.tell(.failure(.store(error)))
            end()
            return beginNext(of: store, clock: clock)
        }
    }

    /// Handles the end of a copy's check, and tells its caller.
    ///
    /// - Parameter isOver: whether the daemon stops, so that nobody can fetch the copy.
    /// - Returns: whether the copy is ready and has to be removed after `kept`.
    mutating func completed(_ copy: FinishedCopy, _ result: Result<Void, StoreError>, isOver: Bool) -> Bool {
        defer { end() }
        let caller = making?.caller
        switch result {
        case .failure(let error):
            caller?.tell(.failure(.store(error)))
            return false
        case .success:
            guard let caller, !isOver else {
                copy.remove()
                return false
            }
            // If there are too many, the oldest is removed.
            if fetchable.count >= CallerLimits.backupsMax { fetchable.removeFirst().copy.remove() }
            fetchable.append((caller.number, copy))
            caller.tell(.success(copy))
            return true
        }
    }

    /// Removes the copy for this caller, if it still exists. A caller that has it open can still read it.
    mutating func remove(_ number: Int) {
        guard let index = fetchable.firstIndex(where: { $0.number == number }) else { return }
        fetchable.remove(at: index).copy.remove()
    }

    /// Removes a caller that has gone, and its unfinished copy.
    ///
    /// - Returns: whether the backup that was being made has ended.
    mutating func forget(_ number: Int) -> Bool {
        waiting.removeAll { $0.number == number }
        guard making?.number == number else { return false }
        making?.caller = nil
        return cut()
    }

    /// Ends all backups, and removes the copies.
    ///
    /// - Returns: as `forget`.
    mutating func endAll(_ failure: StoreKeepingError) -> Bool {
        for caller in [making?.caller].compactMap({ $0 }) + waiting { caller.tell(.failure(failure)) }
        waiting = []
        making?.caller = nil
        for (_, copy) in fetchable { copy.remove() }
        fetchable = []
        return cut()
    }

    /// Ends the backup that is being made. A copy that is being checked is removed when its check has ended.
    private mutating func cut() -> Bool {
        guard making?.copy == nil else {
            end()
            return true
        }
        making?.checked?.interrupt()
        return false
    }

    private mutating func end() {
        making?.copy?.discard()
        making = nil
    }
}
