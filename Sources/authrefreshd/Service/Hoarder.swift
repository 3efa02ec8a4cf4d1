internal import Basics
internal import AuthRefreshInterface
internal import Synchronization
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
        VarlinkError(LimitExceededError(limit, maximum: capacity, holder: text))
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

/// The latest refusal for each limit because of what a program holds, for `authctl doctor`.
final class Hoarders: Sendable {
    /// How long one is remembered. The program may have ended meanwhile.
    private static let kept = Duration.seconds(3600)

    private let latest = Mutex<[Limit: (hoarder: Hoarder, at: ContinuousClock.Instant)]>([:])

    func note(_ hoarder: Hoarder, at now: ContinuousClock.Instant = .now) {
        latest.withLock { $0[hoarder.limit] = (hoarder, now) }
    }

    /// What is remembered, and how long ago it was.
    func recent(at now: ContinuousClock.Instant = .now) -> [(hoarder: Hoarder, ago: Duration)] {
        latest.withLock(\.self).values.map { (hoarder: $0.hoarder, ago: now - $0.at) }
            .filter { $0.ago < Self.kept }
            .sorted { $0.hoarder.limit.rawValue < $1.hoarder.limit.rawValue }
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
