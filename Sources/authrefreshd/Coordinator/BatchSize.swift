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
