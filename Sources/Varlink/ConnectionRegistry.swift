/// All connections of a server, their limits, and the earliest of their deadlines. Lives on the socket's thread.
final class ConnectionRegistry {
    let loop: SocketLoop
    let limits: ServerLimits
    let service: VarlinkService
    let observe: @Sendable (VarlinkServerEvent) -> Void
    private let allowsPeer: @Sendable (PeerCredentials) -> Bool

    /// How long a shortage that was told is not told again: callers that come and go during it would fill the log.
    private static let silence = Duration.seconds(60)
    /// When a shortage was told last.
    private var toldAt: SuspendingClock.Instant?
    /// Whether its end is to be told.
    private(set) var isShortageTold = false

    /// The time of the present turn: a clock that is read once for all that happens in it.
    private(set) var now = SuspendingClock.now
    private var connections: [UInt64: Connection] = [:]
    private var admitted: [UInt32: Int] = [:]
    private var admittedCount = 0
    /// When deadlines have to be looked at: not after the earliest of them; nil for never.
    private(set) var nextCheck: SuspendingClock.Instant?
    /// Those that something has happened to in this turn.
    private var unsettled: [Connection] = []
    /// Those that something has happened to in the turn before, and that did not end in it.
    private var lingering: [Connection] = []
    private var takesCalls = true
    private var isShuttingDown = false
    /// When those that are not done are cut; nil until the end has begun.
    private var shutdownDeadline: SuspendingClock.Instant?
    private var emptied: CheckedContinuation<Void, Never>?

    init(configuration: VarlinkServerConfiguration, service: VarlinkService, loop: SocketLoop) {
        limits = configuration.limits
        unread = HeldBytes(ofProcessMax: limits.undrainedBytesOfProcessMax, ofAllMax: limits.undrainedBytesOfAllMax)
        unfinished = HeldBytes(
            ofProcessMax: limits.unfinishedBytesOfProcessMax,
            ofAllMax: limits.unfinishedBytesOfAllMax
        )
        allowsPeer = configuration.allowsPeer
        observe = configuration.observe
        self.service = service
        self.loop = loop
    }

    // MARK: What is held for processes

    /// Replies that wait to be read.
    var unread: HeldBytes
    /// Calls whose rest is awaited.
    var unfinished: HeldBytes

    /// Why no more bytes of unfinished calls are held for `process`; nil if they are.
    func refusal(ofUnfinished bytes: Int, by process: Int32?) -> Refusal? {
        refusal(
            unfinished.verdict(on: bytes, for: process),
            by: process,
            \.countedUnfinished,
            .processFinishesTooLittle(limit: limits.unfinishedBytesOfProcessMax),
            .processFinishesLeast(limit: limits.unfinishedBytesOfAllMax)
        )
    }

    /// Why no more bytes of replies are held for `process`; nil if they are.
    func refusal(ofUnread bytes: Int, by process: Int32?) -> Refusal? {
        refusal(
            unread.verdict(on: bytes, for: process),
            by: process,
            \.countedUnread,
            .processReadsTooLittle(limit: limits.undrainedBytesOfProcessMax),
            .processReadsLeast(limit: limits.undrainedBytesOfAllMax)
        )
    }

    /// Where there is no room for another process's sake, that process makes it: the connection that takes most of it ends.
    private func refusal(
        _ verdict: HeldBytes.Verdict,
        by process: Int32?,
        _ held: KeyPath<Connection, Int>,
        _ ofProcess: Refusal,
        _ ofAll: Refusal
    ) -> Refusal? {
        switch verdict {
        case .fits: return nil
        case .tooManyOfProcess: return ofProcess
        case .tooManyOfAll(let most):
            guard most != process else { return ofAll }
            let all = connections.values.filter { $0.pid == most }
            all.max { $0[keyPath: held] < $1[keyPath: held] }?.giveWay(ofAll)
            return nil
        }
    }

    // MARK: Admission

    /// Why `peer` may not have a connection now; nil if it may.
    func refusal(of peer: PeerCredentials) -> Refusal? {
        guard allowsPeer(peer) else { return .peerNotAllowed(uid: peer.uid) }
        guard admittedCount < limits.connectionsMax else {
            return .tooManyConnections(limit: limits.connectionsMax)
        }
        guard admitted[peer.uid, default: 0] < limits.connectionsPerUIDMax else {
            return .tooManyConnectionsOfUser(limit: limits.connectionsPerUIDMax)
        }
        return nil
    }

    var count: Int { connections.count }

    /// Nil if it is gone.
    func connection(_ number: UInt64) -> Connection? { connections[number] }

    func add(_ connection: Connection) {
        connections[connection.number] = connection
        if let uid = connection.admittedUID {
            admitted[uid, default: 0] += 1
            admittedCount += 1
        }
        if isShuttingDown {
            connection.shutdownRequested()
        } else if !takesCalls {
            connection.callsEnded()
        }
    }

    func remove(_ connection: Connection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        if let uid = connection.admittedUID {
            admitted[uid, default: 0] -= 1
            admittedCount -= 1
        }
        if connections.isEmpty {
            emptied?.resume()
            emptied = nil
        }
    }

    /// Says that a peer could not be let in, or not kept, for want of descriptors or memory.
    func tellShortage(_ error: VarlinkServerError) {
        if let toldAt, now - toldAt < Self.silence { return }
        toldAt = now
        isShortageTold = true
        if case .cannotAccept(let errno) = error { observe(.acceptFailed(errno: errno)) }
    }

    /// Says so if a shortage was told.
    func tellShortageEnded() {
        guard isShortageTold else { return }
        isShortageTold = false
        observe(.acceptResumed)
    }

    // MARK: Deadlines

    /// Makes sure that `deadline` is not missed.
    ///
    /// An earlier check is left alone: a call that comes and goes moves none, and with no connection left the last one comes once
    /// and is not set again.
    func deadlineSet(_ deadline: SuspendingClock.Instant) {
        nextCheck = min(deadline, nextCheck ?? deadline)
    }

    // MARK: Turns

    func beginTurn() { now = .now }

    func settleLater(_ connection: Connection) {
        unsettled.append(connection)
    }

    /// Whether the next turn is due at once.
    var isLingering: Bool { !lingering.isEmpty }

    /// Ends the turn: first everybody's replies leave, so that peers wake together. They are looked after at the end of the next one: by
    /// then most have read and hung up, and the loop need not watch them at all.
    func settle() {
        let earlier = lingering
        lingering = []
        sendReplies()
        for connection in earlier { connection.settle() }
        // To what they have sent meanwhile.
        sendReplies()
    }

    private func sendReplies() {
        var sent = 0
        while sent < unsettled.count {
            let connection = unsettled[sent]
            connection.sendReplies()
            // Most end when they have been looked after: nobody needs a turn for those.
            if connection.isOpen { lingering.append(connection) }
            sent += 1
        }
        unsettled.removeAll(keepingCapacity: true)
    }

    /// Looks for deadlines that have passed, if it is time to.
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

    /// Takes up no more calls: connections without one are closed, so that their peers turn to whoever serves next.
    func endCalls() {
        takesCalls = false
        for connection in Array(connections.values) {
            connection.callsEnded()
        }
    }

    /// Ends all connections as `ConnectionMachine.shutdownRequested` says; those that are not done by the limit are cut.
    ///
    /// - Parameter emptied: resumed when there is none left.
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
