internal import Basics
internal import AuthRefreshInterface
internal import Systemd
internal import Varlink

/// The program that holds the most of something, at the moment when a caller was refused because of it.
struct Hoarder: Sendable {
    let limit: Limit
    /// Who holds how much: `'python3' (process 4711) has 256 of 512 connections`.
    let text: String
    private let capacity: Int

    /// Looks up the program's name. Does not block.
    init(_ limit: Limit, _ crowding: Shares.Crowding) {
        self.limit = limit
        capacity = crowding.capacity
        let name = PeerProcess.name(of: crowding.process).map { "'\($0.replacingSteering(with: " "))' (process " }
        let program = (name ?? "an unknown program (process ") + "\(crowding.process))"
        text = "\(program) has \(crowding.amount) of \(crowding.capacity) \(limit.words)"
    }

    /// The error reply for the refused caller, which may be this program itself.
    var error: VarlinkError {
        LimitExceededError(limit, maximum: capacity, holder: text).error
    }
}

extension RefreshCoordinator {
    /// The error for a process that may hold no more. The journal names who holds the most.
    func refusal(of process: Int32, _ limit: Limit, _ crowding: Shares.Crowding) -> VarlinkError {
        let hoarder = Hoarder(limit, crowding)
        changeLog.crowded(by: hoarder, process)
        return hoarder.error
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
