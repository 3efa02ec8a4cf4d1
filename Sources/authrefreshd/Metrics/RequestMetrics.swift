internal import RefreshCore

/// Counts the results of token requests since the daemon was started.
struct RequestMetrics: Equatable, Sendable {
    /// The upper ends of the histogram's buckets, in ms. On a good connection a request takes some hundred
    /// milliseconds. Callers give up after 40 s. The daemon waits five minutes for a server that may replace the
    /// refresh token.
    static let bucketEndsMs: [Int64] = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000]

    /// Requests that brought a token.
    private(set) var succeeded: Int64 = 0
    /// Requests that failed, by the class of the failure.
    private(set) var failed: [FailureClass: Int64] = [:]
    /// For each bucket, the requests that took at most its upper end and longer than the previous one's; the last
    /// bucket has all longer requests.
    private(set) var buckets = [Int64](repeating: 0, count: bucketEndsMs.count + 1)
    /// The total duration of all requests.
    private(set) var total = Duration.zero

    /// Records the end of a request.
    ///
    /// - Parameters:
    ///   - failure: nil if it brought a token.
    ///   - length: how long it took.
    mutating func note(_ failure: FailureClass?, after length: Duration) {
        if let failure { failed[failure, default: 0] += 1 } else { succeeded += 1 }
        total += length
        let bucket = Self.bucketEndsMs.firstIndex { length <= .milliseconds($0) } ?? Self.bucketEndsMs.count
        buckets[bucket] += 1
    }
}
