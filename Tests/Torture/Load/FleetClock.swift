internal import TestSupport

/// The time of a fleet, which passes as fast as the daemon keeps its accounts fresh.
struct FleetClock {
    let stage: DaemonStage
    let feed: FleetFeed

    /// The time that passes at once. It is much shorter than the time limits of a request, because one may be under way,
    /// and of a subscriber that has yet to read.
    private static let step = Duration.seconds(4)

    /// Lets `time` pass. Whatever is due is done before more of it passes.
    func pass(_ time: Duration) async throws {
        let end = stage.nowUSec + time.components.seconds * 1_000_000
        while stage.nowUSec < end {
            try await settled()
            try await stage.pass(Self.step)
        }
        try await settled()
    }

    /// Waits until nothing is due, and no refresh is under way. Only the whole of all changes shows that, so it is looked
    /// at again and again.
    private func settled() async throws {
        let end = ContinuousClock.now + .patience
        while !feed.isSettled(at: stage.nowUSec) {
            guard ContinuousClock.now < end else { throw TestFault.timedOut(waitingFor: "the accounts that are due") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
