/// All connections of a server, their limits and their earliest deadline. It lives on the socket's thread.
final class ConnectionRegistry {
    let loop: SocketLoop
    let limits: ServerLimits
    let service: VarlinkService
    let observe: @Sendable (VarlinkServerEvent) -> Void
    private let allowsPeer: @Sendable (PeerCredentials) -> Bool

    /// The shortest time between two reports of a shortage. During a shortage, callers that come and go would fill the
    /// log.
    private static let silence = Duration.seconds(60)
    /// When a shortage was last reported.
    private var toldAt: SuspendingClock.Instant?
    /// Whether the end of a shortage has to be reported.
    private(set) var isShortageTold = false

    /// The time of this turn. The clock is read once for everything that happens in the turn.
    private(set) var now = SuspendingClock.now
    private var connections: [UInt64: Connection] = [:]
    /// What processes hold, by the number of the resource.
    private var shares: [Shares]
    /// When deadlines have to be checked, at the latest at the earliest of them; nil for never.
    private(set) var nextCheck: SuspendingClock.Instant?
    /// Connections with an event in this turn.
    private var unsettled: [Connection] = []
    /// Connections with an event in the previous turn that are still open.
    private var lingering: [Connection] = []
    private var takesCalls = true
    private var isShuttingDown = false
    /// When the remaining connections are cut; nil before the shutdown.
    private var shutdownDeadline: SuspendingClock.Instant?
    private var emptied: CheckedContinuation<Void, Never>?

    init(configuration: VarlinkServerConfiguration, service: VarlinkService, loop: SocketLoop) {
        limits = configuration.limits
        shares = HeldResource.allCases.map { Shares(capacity: configuration.limits.capacity(for: $0)) }
        allowsPeer = configuration.allowsPeer
        observe = configuration.observe
        self.service = service
        self.loop = loop
    }

    // MARK: Shares

    /// Counts that `process` holds `change` more of `resource` (negative for less).
    func count(_ change: Int, of resource: HeldResource, for process: Int32) {
        shares[resource.rawValue].count(change, for: process)
    }

    /// Why `process` may not hold `amount` more of `resource`; nil if it may.
    ///
    /// If its share is too small, connections without a call give way to it, the longest idle first: those of processes
    /// that hold at least as much as it would.
    func refusal(of amount: Int, _ resource: HeldResource, by process: Int32) -> PeerFinding? {
        while let crowding = shares[resource.rawValue].crowding(amount, for: process) {
            let refusal = PeerFinding.crowded(resource, crowding)
            guard let idle = longestIdle(holding: resource, amount, for: process) else { return refusal }
            idle.giveWay(refusal)
        }
        return nil
    }

    private func longestIdle(holding resource: HeldResource, _ amount: Int, for process: Int32) -> Connection? {
        let shares = self.shares[resource.rawValue]
        return connections.values.compactMap { connection in
            connection.held(resource) > 0 && shares.gives(amount, to: process, from: connection.pid)
                ? connection.idleSince.map { ($0, connection) } : nil
        }
        .sorted { $0.0 < $1.0 }
        // The call of one that has just connected may be there, unread.
        .first { !$0.1.hasInput }?.1
    }

    // MARK: Admission

    /// Why `peer` may not connect now; nil if it may.
    func refusal(of peer: PeerCredentials) -> PeerFinding? {
        guard allowsPeer(peer) else { return .peerNotAllowed(uid: peer.uid) }
        return refusal(of: 1, .connections, by: peer.pid)
    }

    var count: Int { connections.count }

    /// The connection with this number; nil if it is closed.
    func connection(_ number: UInt64) -> Connection? { connections[number] }

    func add(_ connection: Connection) {
        connections[connection.number] = connection
        if isShuttingDown {
            connection.shutdownRequested()
        } else if !takesCalls {
            connection.callsEnded()
        }
    }

    func remove(_ connection: Connection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        if connections.isEmpty {
            emptied?.resume()
            emptied = nil
        }
    }

    /// Reports that a peer was not admitted, or not kept, because descriptors or memory ran out.
    func tellShortage(_ error: VarlinkServerError) {
        if let toldAt, now - toldAt < Self.silence { return }
        toldAt = now
        isShortageTold = true
        observe(.acceptFailed(error))
    }

    /// Reports the end of a shortage, if the shortage was reported.
    func tellShortageEnded() {
        guard isShortageTold else { return }
        isShortageTold = false
        observe(.acceptResumed)
    }

    // MARK: Deadlines

    /// Makes sure that `deadline` is checked in time.
    ///
    /// An earlier check stays as it is. So a short call does not change the timer, and without connections the timer
    /// fires once more and is not set again.
    func deadlineSet(_ deadline: SuspendingClock.Instant) {
        nextCheck = min(deadline, nextCheck ?? deadline)
    }

    // MARK: Turns

    func beginTurn() { now = .now }

    func settleLater(_ connection: Connection) {
        unsettled.append(connection)
    }

    /// Whether the next turn has to follow at once.
    var isLingering: Bool { !lingering.isEmpty }

    /// Ends the turn: sends all replies, so that the peers wake together.
    ///
    /// The connections themselves are looked at again at the end of the next turn. By then most peers have read and
    /// hung up, and the loop need not watch them at all.
    func settle() {
        let earlier = lingering
        lingering = []
        sendReplies()
        for connection in earlier { connection.settle() }
        // Send the replies to what the peers have sent meanwhile.
        sendReplies()
    }

    private func sendReplies() {
        var sent = 0
        while sent < unsettled.count {
            let connection = unsettled[sent]
            connection.sendReplies()
            // Most connections are closed by now, and need no further turn.
            if connection.isOpen { lingering.append(connection) }
            sent += 1
        }
        unsettled.removeAll(keepingCapacity: true)
    }

    /// Checks for deadlines that have passed, if it is time to.
    func checkDeadlines() {
        guard let nextCheck, now >= nextCheck else { return }
        self.nextCheck = nil
        let isOver = shutdownDeadline.map { $0 <= now } ?? false
        for connection in Array(connections.values) {
            if isOver {
                connection.close()
            } else if let deadline = connection.deadline, deadline <= now {
                connection.deadlineReached()
            }
        }
        for connection in connections.values {
            if let deadline = connection.deadline { deadlineSet(deadline) }
        }
        if let shutdownDeadline, !connections.isEmpty { deadlineSet(shutdownDeadline) }
    }

    // MARK: End

    /// Starts no more calls. Connections without a call are closed, so that their peers turn to the next server.
    func endCalls() {
        takesCalls = false
        for connection in Array(connections.values) {
            connection.callsEnded()
        }
    }

    /// Ends all connections as `ConnectionMachine.shutdownRequested` describes. At the time limit, the remaining ones
    /// are cut.
    ///
    /// - Parameter emptied: resumed when no connection is left.
    func shutdown(_ emptied: CheckedContinuation<Void, Never>) {
        isShuttingDown = true
        guard !connections.isEmpty else { return emptied.resume() }
        self.emptied = emptied
        let end = now + limits.shutdownTimeout
        shutdownDeadline = end
        deadlineSet(end)
        for connection in Array(connections.values) {
            connection.shutdownRequested()
        }
    }
}
