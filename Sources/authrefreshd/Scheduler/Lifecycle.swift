internal import RefreshCore
internal import Varlink

/// The end of the daemon. Besides the answers of running refreshes, the end waits for calls that must not be left half
/// done.
struct Lifecycle {
    /// Sign-outs, registrations, proofs of grants, and questions about a token's lifetime.
    var serverCalls = Shares(capacity: CallerLimits.serverCallsMax)
    /// Running diagnoses. The end does not wait for them.
    var diagnoses = Shares(capacity: CallerLimits.diagnosesMax)
    /// Resumed as soon as all work has ended.
    private var stopped: CheckedContinuation<Void, Never>?
    private(set) var isStopping = false
    /// Whether the store is closed, so that no more calls can be answered.
    private(set) var isOver = false

    /// Allows nothing new from now on.
    mutating func stop() { isStopping = true }

    /// Waits for the end.
    ///
    /// - Parameter stopped: resumed by the caller that gets it from `end`.
    mutating func waitForEnd(_ stopped: CheckedContinuation<Void, Never>) { self.stopped = stopped }

    /// Ends, if the daemon is stopping and nothing is under way.
    ///
    /// - Parameter isIdle: whether the other duties have nothing under way.
    /// - Returns: the continuation that waits for the end, once; otherwise nil.
    mutating func end(ifIdle isIdle: Bool) -> CheckedContinuation<Void, Never>? {
        guard isStopping, isIdle, serverCalls.isEmpty, let stopped else { return nil }
        self.stopped = nil
        isOver = true
        return stopped
    }
}
