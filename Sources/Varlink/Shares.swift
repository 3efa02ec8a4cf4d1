/// How much of one resource each process holds, and how much it may hold.
///
/// There is one rule for all resources: a process may have half of what the others leave. So something is always left
/// for the next one, and a process alone does not take everything.
package struct Shares: Sendable {
    /// Why a process may not hold more, for people: who holds the most.
    package struct Crowding: Hashable, Sendable {
        /// How much there is for all processes together.
        package let capacity: Int
        /// The process with the most.
        package let process: Int32
        /// How much this process holds.
        package let amount: Int

        package init(capacity: Int, process: Int32, amount: Int) {
            self.capacity = capacity
            self.process = process
            self.amount = amount
        }
    }

    private let capacity: Int
    /// What each process holds. No entry is 0.
    private var amounts: [Int32: Int] = [:]
    private var total = 0

    /// Creates the shares.
    ///
    /// - Parameters:
    ///   - capacity: how much there is for all processes together.
    ///   - holders: the process of each piece that is held now.
    package init(capacity: Int, holders: [Int32] = []) {
        self.capacity = capacity
        for process in holders { count(1, for: process) }
    }

    package var isEmpty: Bool { total == 0 }

    /// Adds `change` (negative to subtract) to what `process` holds, allowed or not.
    package mutating func count(_ change: Int, for process: Int32) {
        let amount = amounts[process, default: 0] + change
        amounts[process] = amount > 0 ? amount : nil
        total += change
    }

    /// Takes one piece for `process`.
    ///
    /// - Returns: nil if it was taken.
    package mutating func take(for process: Int32) -> Crowding? {
        if let crowding = crowding(1, for: process) { return crowding }
        count(1, for: process)
        return nil
    }

    /// Why `process` may not hold `amount` more; nil if it may.
    package func crowding(_ amount: Int, for process: Int32) -> Crowding? {
        let own = amounts[process, default: 0]
        // Rounded up, so that the last piece can be taken, too.
        guard own + amount > (capacity - (total - own) + 1) / 2 else { return nil }
        // The process with the lower number, so that the answer does not depend on hashing.
        let most = amounts.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return Crowding(capacity: capacity, process: most?.key ?? process, amount: most?.value ?? own)
    }

    /// Whether what `holder` holds without need gives way to `process`, which wants `amount` more: only if `holder` has
    /// at least as much as `process` would have.
    package func gives(_ amount: Int, to process: Int32, from holder: Int32) -> Bool {
        amounts[holder, default: 0] >= amounts[process, default: 0] + amount
    }
}

/// What a process can hold of a server.
package enum HeldResource: Int, CaseIterable, Sendable {
    case connections
    /// Calls for several replies, such as subscriptions, which may last as long as their connections.
    case heldCalls
    /// Bytes of replies that were not read yet.
    case unreadBytes
    /// Bytes of calls that are not complete yet.
    case unfinishedBytes
}
