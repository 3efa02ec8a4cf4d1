internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import TextEncodings

/// A small OAuth 2.0 authorization server on loopback, for the quickstart, the tests and the benchmarks.
///
/// It issues grants to people who consent on its pages, by method calls or over `/admin/…`. It refreshes them by the
/// rules of `GrantLedger`, fails as scripted, and records every request. An instance can be started once and shut down
/// once.
package actor DemoIssuer {
    private let configuration: IssuerConfiguration
    private var state: IssuerState
    /// The listening channel.
    private var door: (any Channel)?
    /// What serves a connection, each with its number.
    private var connections: [Int: Task<Void, Never>] = [:]
    private var lastConnection = 0
    private var isShutDown = false
    /// Those who wait for a request, each with a number and what it waits for.
    private var waiters: [Int: (wanted: (LogEntry) -> Bool, found: CheckedContinuation<LogEntry?, Never>)] = [:]
    private var lastWaiter = 0
    /// How often `endDelays` was called.
    private(set) var delaysEnded = 0
    /// Ends the delays that last at the moment, each with its number.
    private var delays: [Int: @Sendable () -> Void] = [:]
    private var lastDelay = 0

    /// How many connections the system queues during a burst of clients. Linux limits it to `net.core.somaxconn`.
    private static let backlog: Int32 = 1024

    package init(configuration: IssuerConfiguration) {
        self.configuration = configuration
        state = IssuerState(configuration)
    }

    /// Listens on 127.0.0.1 and serves until `shutdown`. Returns the issuer identifier, which is also the base URL.
    ///
    /// - Throws: if it was called before, or if the port is taken or not allowed.
    package func start() async throws(DemoError) -> String {
        guard state.issuer.isEmpty else {
            throw DemoError("the authorization server has already been started")
        }
        state.issuer = configuration.issuer ?? "http://127.0.0.1:\(configuration.port)"
        let door = try await listen()
        if configuration.issuer == nil, let port = door.localAddress?.port {
            state.issuer = "http://127.0.0.1:\(port)"
        }
        self.door = door
        return state.issuer
    }

    /// Closes every connection, ends every wait, and returns when nothing is running any more.
    package func shutdown() async {
        isShutDown = true
        try? await door?.close()
        let open = Array(connections.values)
        for connection in open { connection.cancel() }
        for connection in open { await connection.value }
        for number in waiters.keys { giveUp(number) }
    }

    /// Issues a grant to a client, as if the resource owner had signed in.
    ///
    /// - Parameter scope: space-separated (RFC 6749 §3.3).
    /// - Throws: if there is no such client.
    package func issueGrant(
        clientID: String,
        subject: String = "alice",
        scope: String = "demo"
    ) throws(DemoError) -> IssuedGrant {
        guard state.client(clientID) != nil else { throw .noClient(clientID) }
        return state.issueGrant(clientID: clientID, subject: subject, scope: scope)
    }

    /// Issues `count` grants with different subjects to a client in one step. In benchmarks, a call for each grant
    /// would cost more than the grant.
    ///
    /// - Throws: if there is no such client.
    package func issueGrants(
        count: Int,
        clientID: String,
        scope: String = "demo"
    ) throws(DemoError) -> [IssuedGrant] {
        guard state.client(clientID) != nil else { throw .noClient(clientID) }
        return (0..<count).map { number in
            state.issueGrant(clientID: clientID, subject: "user\(number)", scope: scope)
        }
    }

    /// Revokes a grant, as an administrator does.
    ///
    /// - Throws: if there is no such grant.
    package func revokeGrant(_ family: Int) throws(DemoError) {
        guard state.ledger.revokeGrant(family) else { throw .noGrant(family) }
    }

    /// The state of a grant; nil if it was never issued.
    package func grant(_ family: Int) -> GrantSummary? {
        state.ledger.summary(ofGrant: family)
    }

    /// The rules for everything that is issued or decided from now on.
    package var policy: GrantPolicy { state.ledger.policy }

    package func setPolicy(_ policy: GrantPolicy) {
        state.ledger.policy = policy
    }

    /// Scripts a fault for the next token requests, after the faults that were scripted before.
    ///
    /// - Parameter times: how many requests it affects, 1 or more; nil affects all until `clearFaults`.
    /// - Throws: if the queue of scripted faults is full.
    package func script(_ fault: Fault, times: Int? = 1) throws(DemoError) {
        guard !state.faults.isFull else { throw DemoError("too many faults are scripted") }
        state.faults.append(fault, times: times)
    }

    package func clearFaults() {
        state.faults.clear()
    }

    /// Ends the delays of `delayBefore` and `delayAfter` that have begun. Without a call, they last as long as scripted.
    package func endDelays() {
        delaysEnded += 1
        for end in delays.values { end() }
        delays = [:]
    }

    /// Changes the server's clock in `Date` headers. Tokens still expire by the true clock.
    package func setDateOffset(_ offset: Duration) {
        state.dateOffset = offset
    }

    /// Forgets the clients that registered themselves.
    package func forgetRegisteredClients() {
        state.forgetRegisteredClients()
    }

    package var counters: RequestCounters { state.log.counters }

    /// The sequence number of the newest entry; 0 before the first.
    package var lastSequence: Int { state.log.lastSequence }

    /// The entries after `sequence`, oldest first. The log keeps at least the last 100,000.
    package func entries(after sequence: Int = 0) -> [LogEntry] {
        Array(state.log.entries(after: sequence))
    }

    /// The first request after `sequence` that satisfies `predicate`, past or future.
    ///
    /// - Throws: if there was none within `limit`.
    package func waitForRequest(
        after sequence: Int = 0,
        within limit: Duration = .seconds(120),
        where predicate: @escaping @Sendable (LogEntry) -> Bool
    ) async throws(DemoError) -> LogEntry {
        if let past = state.log.entries(after: sequence).first(where: predicate) { return past }
        lastWaiter += 1
        let number = lastWaiter
        // Its end, early or not, ends the wait.
        let alarm = Task {
            try? await Task.sleep(for: limit)
            giveUp(number)
        }
        defer { alarm.cancel() }
        let found = await withTaskCancellationHandler {
            await withCheckedContinuation { waiters[number] = (predicate, $0) }
        } onCancel: {
            alarm.cancel()
        }
        guard let found else { throw DemoError("no request came within \(limit.components.seconds) s") }
        return found
    }

    private func giveUp(_ waiter: Int) {
        waiters.removeValue(forKey: waiter)?.found.resume(returning: nil)
    }

    // What connections ask the issuer.

    func admit(_ request: Request) -> IssuerState.Admission {
        state.admit(request)
    }

    func answer(_ admission: IssuerState.Admission) -> Answer {
        publishing { state.answer(admission, at: $0) }
    }

    func release(_ admission: IssuerState.Admission) {
        state.release(admission)
    }

    /// Has `end` called by the next `endDelays`, or at once if there was one after the first `count`.
    ///
    /// - Returns: the delay's number, for `forgetDelay`.
    func noteDelay(since count: Int, end: @escaping @Sendable () -> Void) -> Int {
        lastDelay += 1
        if delaysEnded == count { delays[lastDelay] = end } else { end() }
        return lastDelay
    }

    func forgetDelay(_ number: Int) {
        delays[number] = nil
    }

    func noteHeld(_ admission: IssuerState.Admission) {
        publishing { state.note(admission.draft, .held, at: $0) }
    }

    func noteNotServed(_ admission: IssuerState.Admission) {
        publishing { state.note(admission.draft, .notServed, at: $0) }
    }

    /// The log for `/admin/log`, when there is an entry or when `patience` is over.
    func logAnswer(to request: Request, within patience: Duration) async -> Answer {
        let sequence = FormFields(request.query.utf8)?["after"].flatMap { Int($0) } ?? 0
        _ = try? await waitForRequest(after: sequence, within: patience) { $0.sequence > sequence }
        return .json(entries(after: sequence))
    }

    /// The value of the `Date` header (RFC 9110 §6.6.1).
    var dateHeader: String {
        HTTPDate.format((configuration.now() + state.dateOffset).wholeSeconds)
    }

    private func publishing<Result>(_ body: (_ now: Duration) -> Result) -> Result {
        let last = state.log.lastSequence
        let result = body(configuration.now())
        guard !waiters.isEmpty else { return result }
        for entry in state.log.entries(after: last) {
            for (number, waiter) in waiters where waiter.wanted(entry) {
                waiters[number] = nil
                waiter.found.resume(returning: entry)
            }
        }
        return result
    }

    private func listen() async throws(DemoError) -> any Channel {
        let prepareConnection = configuration.prepareConnection
        do {
            return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: Self.backlog)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        do {
                            try prepareConnection(channel)
                        } catch {
                            // NIO leaves a channel open after its initializer failed, and its client would wait
                            // forever.
                            channel.close(promise: nil)
                            throw error
                        }
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        let connection = try Connection.HTTPChannel(wrappingChannelSynchronously: channel)
                        Task { await self.serve(connection) }
                    }
                }
                .bind(host: "127.0.0.1", port: configuration.port)
                .get()
        } catch let error as IOError {
            throw DemoError("cannot listen on 127.0.0.1, port \(configuration.port) (error \(error.errnoCode))")
        } catch {
            throw DemoError("cannot listen on 127.0.0.1, port \(configuration.port)")
        }
    }

    /// Serves a connection in a task of its own. A failing connection ends only itself.
    ///
    /// One that was accepted while the issuer shuts down is served, too, and ends at once: NIO ends a process that drops it
    /// ("Deinited NIOAsyncWriter without calling finish()").
    private func serve(_ channel: Connection.HTTPChannel) {
        lastConnection += 1
        let number = lastConnection
        let service = Task.detached { [self] in
            try? await Connection(channel: channel, issuer: self).serve()
            await forget(number)
        }
        connections[number] = service
        if isShutDown { service.cancel() }
    }

    private func forget(_ connection: Int) {
        connections[connection] = nil
    }
}

extension DemoError {
    fileprivate static func noClient(_ id: String) -> DemoError {
        DemoError("the authorization server does not know the client '\(id)'")
    }

    fileprivate static func noGrant(_ family: Int) -> DemoError {
        DemoError("the authorization server has not given the grant \(family)")
    }
}
