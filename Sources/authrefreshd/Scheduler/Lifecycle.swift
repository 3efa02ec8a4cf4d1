internal import RefreshCore

/// The end of the daemon, and what it waits for beside answers: calls of which half would be worse than none.
struct Lifecycle {
    /// Sign-outs, registrations, proofs of a grant, questions for a token's lifetime.
    private var serverCalls = Places(CallerLimits.serverCallsMax)
    /// Callers who are being told what is wrong; the end does not wait for them.
    private var diagnoses = Places(CallerLimits.diagnosesMax)
    /// Resumed when nothing is under way any more.
    private var stopped: CheckedContinuation<Void, Never>?
    private(set) var isStopping = false
    /// Whether the store is closed, and nothing can be answered any more.
    private(set) var isOver = false

    var hasServerCalls: Bool { !serverCalls.areFree }

    /// Notes the beginning of a server call; false if there are as many as may be.
    mutating func beginServerCall() -> Bool { serverCalls.take() }

    mutating func endServerCall() { serverCalls.giveBack() }

    /// Notes the beginning of a diagnosis; false if there are as many as may be.
    mutating func beginDiagnosis() -> Bool { diagnoses.take() }

    mutating func endDiagnosis() { diagnoses.giveBack() }

    /// From now on nothing is begun.
    mutating func stop() { isStopping = true }

    /// - Parameter stopped: resumed by whoever `end` gives it to.
    mutating func waitForEnd(_ stopped: CheckedContinuation<Void, Never>) { self.stopped = stopped }

    /// Ends, if the daemon is to end and nothing is under way.
    ///
    /// - Parameter isIdle: whether the other duties have nothing under way.
    /// - Returns: what waits for the end, once; else nil.
    mutating func end(ifIdle isIdle: Bool) -> CheckedContinuation<Void, Never>? {
        guard isStopping, isIdle, serverCalls.areFree, let stopped else { return nil }
        self.stopped = nil
        isOver = true
        return stopped
    }
}
