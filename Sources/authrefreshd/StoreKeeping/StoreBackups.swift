internal import AccountStorage
internal import RefreshCore

/// The backups that callers want: one is made at a time, the others wait in line.
struct StoreBackups {
    /// A copy that waits for its caller to open it.
    struct Copy: Sendable {
        let path: String
        /// The names of the keys that it takes to open it.
        let keys: [String]
    }

    enum Failure: Error, Hashable, Sendable {
        case store(StoreError)
        /// The daemon stops.
        case interrupted
    }

    /// What comes next.
    enum Step {
        /// The next batch of this copy, after others have had their turn.
        case copyMore(number: Int)
        /// The check of a complete copy, on a thread that nobody else waits for; then `completed`.
        case check(FinishedCopy, number: Int)
        /// The next backup.
        case next
    }

    private struct Caller {
        let number: Int
        let tell: @Sendable (Result<Copy, Failure>) -> Void
    }

    /// The one whose copy is being made.
    private struct Making {
        /// Nil once the caller has gone, or has been told that there will be no copy.
        var caller: Caller?
        /// The copy until it is complete; nil while it is checked.
        var copy: StoreCopy?
        /// The complete copy, which is checked.
        var checked: FinishedCopy?
        let number: Int
    }

    /// How long a complete copy waits for its caller; a test is less patient.
    var kept = CallerLimits.backupKept
    /// How many pages are copied in the next batch; a test has many or few.
    var batchSize = BatchSize()
    private var making: Making?
    private var waiting: [Caller] = []
    /// Complete copies that their callers were told of, by number, the oldest first.
    private var fetchable: [(number: Int, copy: FinishedCopy)] = []
    private var lastNumber = 0

    /// The number of the backup that is being made; nil if none is.
    var underWay: Int? { making?.number }

    /// - Parameter tell: must not call back into the coordinator.
    /// - Returns: the caller's number, to forget it by.
    mutating func enqueue(_ tell: @escaping @Sendable (Result<Copy, Failure>) -> Void) -> Int {
        lastNumber += 1
        waiting.append(Caller(number: lastNumber, tell: tell))
        return lastNumber
    }

    /// Begins the next one in line, if none is being made.
    mutating func beginNext(of store: AccountStore, clock: () -> Moment) -> Step? {
        guard making == nil, !waiting.isEmpty else { return nil }
        let caller = waiting.removeFirst()
        do throws(StoreError) {
            let copy = try StoreCopy(of: store, for: .backup(caller.number))
            making = Making(caller: caller, copy: copy, number: caller.number)
        } catch {
            caller.tell(.failure(.store(error)))
            return .next
        }
        return copyMore(caller.number, clock: clock)
    }

    /// Copies one batch of pages.
    mutating func copyMore(_ number: Int, clock: () -> Moment) -> Step? {
        guard let making, making.number == number, let copy = making.copy else { return nil }
        let began = clock()
        do throws(StoreError) {
            let finished = try copy.advance(pages: batchSize.count)
            batchSize.fit(to: clock().elapsed(since: began))
            guard let finished else { return .copyMore(number: number) }
            self.making?.copy = nil
            self.making?.checked = finished
            return .check(finished, number: number)
        } catch {
            making.caller?.tell(.failure(.store(error)))
            return end()
        }
    }

    /// A complete copy is checked: its caller is told.
    ///
    /// - Parameter isOver: whether the daemon stops, so that nobody can take the copy away.
    /// - Returns: whether the copy is there, to be removed after `kept`.
    mutating func completed(_ copy: FinishedCopy, _ result: Result<Void, StoreError>, isOver: Bool) -> Bool {
        defer { _ = end() }
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
            // Beyond as many the oldest goes.
            if fetchable.count >= CallerLimits.backupsMax { fetchable.removeFirst().copy.remove() }
            fetchable.append((caller.number, copy))
            caller.tell(.success(Copy(path: copy.path, keys: copy.keyIdentifiers)))
            return true
        }
    }

    /// Removes the copy for this caller, if it is still there. A caller who has it open reads on.
    mutating func remove(_ number: Int) {
        guard let index = fetchable.firstIndex(where: { $0.number == number }) else { return }
        fetchable.remove(at: index).copy.remove()
    }

    /// Forgets a caller who has gone, and the copy that was being made for it.
    mutating func forget(_ number: Int) -> Step? {
        waiting.removeAll { $0.number == number }
        guard making?.number == number else { return nil }
        making?.caller = nil
        return cut()
    }

    /// Ends all backups, and removes the copies.
    mutating func endAll(_ failure: Failure) -> Step? {
        for caller in [making?.caller].compactMap({ $0 }) + waiting { caller.tell(.failure(failure)) }
        waiting = []
        making?.caller = nil
        for (_, copy) in fetchable { copy.remove() }
        fetchable = []
        return cut()
    }

    /// Ends the backup that is being made. What is being checked is removed as soon as its check has ended.
    private mutating func cut() -> Step? {
        guard making?.copy == nil else { return end() }
        making?.checked?.interrupt()
        return nil
    }

    private mutating func end() -> Step {
        making?.copy?.discard()
        making = nil
        return .next
    }
}
