/// How much is measured.
struct Effort: Sendable {
    /// Runs of a whole process, for each command.
    let processRuns: Int
    /// Slices of load, for each of those that are compared, and ms of one.
    let slices: Int
    let sliceMilliseconds: Int
    /// Accounts that "a million" stands for.
    let manyAccounts: Int
    /// Starts of a daemon, for each store.
    let starts: Int
    /// How long a daemon is left alone before its wake-ups are counted, and how long they are.
    let settling: Duration
    let watching: Duration
    /// Refreshes of one slice, and of single ones that are timed.
    let refreshes: Int
    let rotations: Int

    static let full = Effort(
        processRuns: 500,
        slices: 9,
        sliceMilliseconds: 1_000,
        manyAccounts: 1_000_000,
        starts: 7,
        // What the daemon did last has settled: idle connections are closed after a second, pooled threads end after five.
        settling: .seconds(15),
        watching: .seconds(60),
        refreshes: 4_000,
        rotations: 200
    )

    /// Seconds in all: enough to see that every bench works.
    static let short = Effort(
        processRuns: 3,
        slices: 1,
        sliceMilliseconds: 50,
        manyAccounts: 200,
        starts: 1,
        settling: .milliseconds(100),
        watching: .milliseconds(200),
        refreshes: 70,
        rotations: 3
    )
}
