internal import NIOCore

/// All connections of a server, their limits, and one timer for all their deadlines. Lives on the event loop.
final class ConnectionRegistry {
    let limits: ServerLimits
    let service: VarlinkService
    let observe: @Sendable (VarlinkServerEvent) -> Void
    private let allowsPeer: @Sendable (PeerCredentials) -> Bool
    private let eventLoop: any EventLoop

    /// Called when a connection has ended, and so a descriptor is free.
    var onRemoval: () -> Void = {}

    private var connections: [ObjectIdentifier: Connection] = [:]
    private var admitted: [UInt32: Int] = [:]
    private var admittedCount = 0
    private var nextCheck: (at: NIODeadline, task: Scheduled<Void>)?
    private var takesCalls = true
    private var isShuttingDown = false
    private var emptied: EventLoopPromise<Void>?

    init(configuration: VarlinkServerConfiguration, service: VarlinkService, eventLoop: any EventLoop) {
        limits = configuration.limits
        allowsPeer = configuration.allowsPeer
        observe = configuration.observe
        self.service = service
        self.eventLoop = eventLoop
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

    func add(_ connection: Connection) {
        connections[ObjectIdentifier(connection)] = connection
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
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        if let uid = connection.admittedUID {
            admitted[uid, default: 0] -= 1
            admittedCount -= 1
        }
        onRemoval()
        if connections.isEmpty {
            emptied?.succeed()
            emptied = nil
        }
    }

    // MARK: Deadlines

    /// Makes sure that `deadline` is not missed.
    ///
    /// A timer already set for an earlier time is left alone: a call that comes and goes costs no timer, and with no
    /// connection left the last one fires once and is not set again.
    func deadlineSet(_ deadline: NIODeadline) {
        if let nextCheck {
            guard deadline < nextCheck.at else { return }
            nextCheck.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            self?.checkDeadlines()
            return
        }
        nextCheck = (deadline, task)
    }

    private func checkDeadlines() {
        nextCheck = nil
        let now = NIODeadline.now()
        for connection in Array(connections.values) {
            if let deadline = connection.deadline, deadline <= now {
                connection.deadlineReached()
            }
        }
        if let earliest = connections.values.compactMap(\.deadline).min() {
            deadlineSet(earliest)
        }
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
    func shutdown() -> EventLoopFuture<Void> {
        isShuttingDown = true
        let promise = eventLoop.makePromise(of: Void.self)
        guard !connections.isEmpty else {
            promise.succeed()
            return promise.futureResult
        }
        emptied = promise
        for connection in Array(connections.values) {
            connection.shutdownRequested()
        }
        let limit = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.shutdownTimeout)) { [weak self] in
            guard let self else { return }
            for connection in Array(connections.values) {
                connection.cut()
            }
        }
        promise.futureResult.whenComplete { _ in limit.cancel() }
        return promise.futureResult
    }
}
