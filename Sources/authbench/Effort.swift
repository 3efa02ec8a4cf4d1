/// How much each bench measures.
struct Effort: Sendable {
    /// Runs of a whole process, for each command.
    let processRuns: Int
    /// Slices of load for each competitor, and the length of one in ms.
    let slices: Int
    let sliceMilliseconds: Int
    /// The number of accounts for "a million".
    let manyAccounts: Int
    /// Starts of a daemon, for each store.
    let starts: Int
    /// How long a daemon is idle before its wake-ups are counted, and how long they are counted.
    let settling: Duration
    let watching: Duration
    /// Refreshes in one slice, and single refreshes that are timed.
    let refreshes: Int
    let rotations: Int

    static let full = Effort(
        processRuns: 500,
        slices: 9,
        sliceMilliseconds: 1_000,
        manyAccounts: 1_000_000,
        starts: 7,
        // The daemon has settled by then: idle connections are closed after a second, and pooled threads end after
        // five.
        settling: .seconds(15),
        watching: .seconds(60),
        refreshes: 4_000,
        rotations: 200
    )

    /// A few seconds in total, enough to see that every bench works.
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
