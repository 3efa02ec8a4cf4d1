internal import DemoIssuer
internal import TestSupport

/// The granted refreshes at the server, by account.
struct ServerRecord: Sendable {
    let issuer: DemoIssuer
    let families: [Int]
    /// How many requests a second the daemon may make.
    let rate: Int

    /// The refreshes after the request with this number.
    func refreshes(after sequence: Int) async -> [LogEntry] {
        await issuer.entries(after: sequence).filter { $0.outcome == .rotated }
    }

    /// Waits until each account has been refreshed as often as it must be after the request with this number.
    ///
    /// - Returns: what differs from `count`.
    func surprises(after sequence: Int, refreshes count: ClosedRange<Int>) async throws -> [String] {
        if count.lowerBound > 0 {
            for family in families {
                _ = try await issuer.waitForRequest(after: sequence) { $0.family == family && $0.outcome == .rotated }
            }
        }
        let counts = Dictionary(grouping: await refreshes(after: sequence)) { $0.family ?? 0 }.mapValues(\.count)
        return families.filter { !count.contains(counts[$0] ?? 0) }.map {
            "grant \($0) was refreshed \(counts[$0] ?? 0) times instead of \(count)"
        }
    }

    /// Whether more requests came since `start` than `rate` a second allows. The requests of a second may have been saved
    /// up, and a few were in flight. Requests that are late, on a busy machine, are not a stampede.
    func stampede(after sequence: Int, from start: Duration) async -> [String] {
        let times = await refreshes(after: sequence).map { Duration.microseconds($0.timeUSec) - start }.filter {
            $0 >= .zero
        }
        let excess = times.enumerated().first { number, time in
            Double(number + 1) > Double(rate) * (2 + time / .seconds(1))
        }
        return excess.map { ["\($0.offset + 1) requests within \($0.element)"] } ?? []
    }
}
