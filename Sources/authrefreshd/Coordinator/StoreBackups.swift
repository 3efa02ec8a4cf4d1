internal import AccountStorage

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

    struct Caller {
        let number: Int
        let tell: @Sendable (Result<Copy, Failure>) -> Void
    }

    /// The one whose copy is being made.
    struct Making {
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
    var making: Making?
    /// How many pages are copied in the next batch.
    var batchSize = BatchSize()
    private var waiting: [Caller] = []
    /// Complete copies that their callers were told of, by number, the oldest first.
    private(set) var fetchable: [(number: Int, copy: FinishedCopy)] = []
    private var lastNumber = 0

    /// - Returns: the caller's number, to forget it by.
    mutating func enqueue(_ tell: @escaping @Sendable (Result<Copy, Failure>) -> Void) -> Int {
        lastNumber += 1
        waiting.append(Caller(number: lastNumber, tell: tell))
        return lastNumber
    }

    /// The next in line, if none is being made.
    mutating func next() -> Caller? {
        making == nil && !waiting.isEmpty ? waiting.removeFirst() : nil
    }

    mutating func forgetWaiting(_ number: Int) {
        waiting.removeAll { $0.number == number }
    }

    /// Those who have no copy yet, who get none then.
    mutating func dismissAll() -> [Caller] {
        defer {
            waiting = []
            making?.caller = nil
        }
        return [making?.caller].compactMap { $0 } + waiting
    }

    /// Keeps a complete copy for its caller. Beyond `CallerLimits.backupsMax` the oldest goes.
    mutating func keep(_ copy: FinishedCopy, for number: Int) {
        if fetchable.count >= CallerLimits.backupsMax { fetchable.removeFirst().copy.remove() }
        fetchable.append((number, copy))
    }

    /// Removes the copy for this caller, if it is still there. A caller who has it open reads on.
    mutating func remove(_ number: Int) {
        guard let index = fetchable.firstIndex(where: { $0.number == number }) else { return }
        fetchable.remove(at: index).copy.remove()
    }

    mutating func removeAll() {
        for (_, copy) in fetchable { copy.remove() }
        fetchable = []
    }
}
