internal import RefreshCore

/// What has become of the token requests since the daemon was started.
struct RequestMetrics: Equatable, Sendable {
    /// The upper ends of the histogram's buckets, in ms. A request on a good line takes some hundred milliseconds; callers give up after
    /// 40 s, and a server that may replace the refresh token is listened to for five minutes.
    static let bucketEndsMs: [Int64] = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000]

    /// Requests that brought a token.
    private(set) var succeeded: Int64 = 0
    /// Requests that brought none, by the class of the failure.
    private(set) var failed: [FailureClass: Int64] = [:]
    /// Requests that took up to the end of each bucket and longer than that of the one before; the last one: longer than all.
    private(set) var buckets = [Int64](repeating: 0, count: bucketEndsMs.count + 1)
    /// How long all of them took together.
    private(set) var total = Duration.zero

    /// Notes the end of a request.
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
