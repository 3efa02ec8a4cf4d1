internal import Basics
internal import AuthRefreshInterface
internal import Systemd
internal import Varlink

extension LimitExceededError {
    /// The refusal of a caller because of what a program holds, which may be the caller itself: `'python3' (process
    /// 4711) has 256 of 512 connections`. Looks up the program's name, and does not block.
    init(_ limit: Limit, _ crowding: Shares.Crowding) {
        let name = PeerProcess.name(of: crowding.process).map { "'\($0.replacingSteering(with: " "))' (process " }
        let program = (name ?? "an unknown program (process ") + "\(crowding.process))"
        let holder = "\(program) has \(crowding.amount) of \(crowding.capacity) \(limit.words)"
        self.init(limit, maximum: crowding.capacity, holder: holder)
    }
}

extension RefreshCoordinator {
    /// The error for a process that may hold no more. The journal names who holds the most.
    func refusal(of process: Int32, _ limit: Limit, _ crowding: Shares.Crowding) -> VarlinkError {
        let refusal = LimitExceededError(limit, crowding)
        changeLog.crowded(refusal, process)
        return refusal.error
    }
}

extension HeldResource {
    /// The name of its limit on the wire.
    var limit: Limit {
        switch self {
        case .connections: .connections
        case .heldCalls: .heldCalls
        case .unreadBytes: .unreadBytes
        case .unfinishedBytes: .unfinishedBytes
        }
    }
}
