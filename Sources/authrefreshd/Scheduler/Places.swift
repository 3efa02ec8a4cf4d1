/// Places for work of which there may be so much at a time.
struct Places {
    private let maximum: Int
    private var taken = 0

    init(_ maximum: Int) {
        self.maximum = maximum
    }

    var areFree: Bool { taken == 0 }

    /// - Returns: whether there was one.
    mutating func take() -> Bool {
        guard taken < maximum else { return false }
        taken += 1
        return true
    }

    mutating func giveBack() {
        taken -= 1
    }
}

/// How much is done in one turn of work that shares the coordinator's queue with callers and refreshes.
struct BatchSize: Hashable, Sendable {
    /// How long one batch may keep the queue from the others: less than a person notices, and enough that a commit is shared.
    private static let longestBatch = Duration.milliseconds(20)
    private static let bounds = 8...1024

    /// Accounts or pages, as the work counts.
    private(set) var count = 64

    /// Makes the next batch smaller if one took too long, and larger if it took next to no time: disks and secrets differ.
    mutating func fit(to time: Duration) {
        if time > Self.longestBatch {
            count = max(count / 2, Self.bounds.lowerBound)
        } else if time < Self.longestBatch / 4 {
            count = min(count * 2, Self.bounds.upperBound)
        }
    }
}
