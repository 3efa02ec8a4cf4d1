internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import TextEncodings

/// A small OAuth 2.0 authorization server on loopback, for the quickstart, the tests and the benchmarks.
///
/// It issues grants to people who consent on its pages, in-process or over `/admin/…`, refreshes them by `GrantLedger`'s rules, fails
/// as scripted, and writes down every request. One instance is started once and shut down once.
package actor DemoIssuer {
    private let configuration: IssuerConfiguration
    private var state: IssuerState
    private var service: Task<Void, Never>?
    /// Where connections arrive.
    private var door: (any Channel)?
    private var subscribers: [Int: AsyncStream<LogEntry>.Continuation] = [:]
    private var lastSubscriber = 0

    /// Entries kept for a subscriber that does not read; older ones are dropped, and the log still has them.
    private static let bufferedEvents = 10_000
    /// Connections the system queues for us while a burst of clients arrives; Linux caps it at `net.core.somaxconn`.
    private static let backlog: Int32 = 1024

    package init(configuration: IssuerConfiguration) {
        self.configuration = configuration
        state = IssuerState(configuration)
    }

    /// Listens on 127.0.0.1 and serves until `shutdown`. Returns the issuer identifier, which is also the base URL.
    ///
    /// - Throws: `startedBefore`, `cannotListen`.
    package func start() async throws(DemoIssuerError) -> String {
        guard service == nil, state.issuer.isEmpty else { throw .startedBefore }
        state.issuer = configuration.issuer ?? "http://127.0.0.1:\(configuration.port)"
        let listener = try await listen()
        if configuration.issuer == nil, let port = listener.channel.localAddress?.port {
            state.issuer = "http://127.0.0.1:\(port)"
        }
        door = listener.channel
        service = Task { [self] in await accept(listener) }
        return state.issuer
    }

    /// Closes every connection, ends every stream of `events`, and returns when nothing runs any more.
    package func shutdown() async {
        door?.close(promise: nil)
        await service?.value
        for subscriber in subscribers.values { subscriber.finish() }
        subscribers = [:]
    }

    /// Gives a client a grant, as if the resource owner had signed in.
    ///
    /// - Parameter scope: space-separated (RFC 6749 §3.3).
    /// - Throws: `noSuchClient`.
    package func issueGrant(
        clientID: String,
        subject: String = "alice",
        scope: String = "demo"
    ) throws(DemoIssuerError) -> IssuedGrant {
        guard state.client(clientID) != nil else { throw .noSuchClient(id: clientID) }
        return state.issueGrant(clientID: clientID, subject: subject, scope: scope, at: configuration.now())
    }

    /// Gives a client `count` grants of subjects of its own, in one step: for benchmarks, where a call for each would
    /// cost more than the grant.
    ///
    /// - Throws: `noSuchClient`.
    package func issueGrants(
        count: Int,
        clientID: String,
        scope: String = "demo"
    ) throws(DemoIssuerError) -> [IssuedGrant] {
        guard state.client(clientID) != nil else { throw .noSuchClient(id: clientID) }
        let now = configuration.now()
        return (0..<count).map { number in
            state.issueGrant(clientID: clientID, subject: "user\(number)", scope: scope, at: now)
        }
    }

    /// Ends a grant as a server's administrator does.
    ///
    /// - Throws: `noSuchGrant`.
    package func revokeGrant(_ family: Int) throws(DemoIssuerError) {
        guard state.ledger.revokeGrant(family) else { throw .noSuchGrant(family: family) }
    }

    /// Takes a grant's access tokens back before their time; its refresh token stays good.
    ///
    /// - Throws: `noSuchGrant`.
    package func revokeAccessTokens(_ family: Int) throws(DemoIssuerError) {
        guard state.ledger.revokeAccessTokens(family) else { throw .noSuchGrant(family: family) }
    }

    /// One grant's state; nil if it was never given.
    package func grant(_ family: Int) -> GrantSummary? {
        state.ledger.summary(ofGrant: family)
    }

    /// The rules for what is issued or judged from now on.
    package var policy: GrantPolicy { state.ledger.policy }

    package func setPolicy(_ policy: GrantPolicy) {
        state.ledger.policy = policy
    }

    /// Scripts a fault for the next token requests, after those scripted before it.
    ///
    /// - Parameter times: how many requests it befalls, 1 or more; nil means all until `clearFaults`.
    /// - Throws: `tooManyFaults`.
    package func script(_ fault: Fault, times: Int? = 1) throws(DemoIssuerError) {
        guard !state.faults.isFull else { throw .tooManyFaults }
        state.faults.append(fault, times: times)
    }

    package func clearFaults() {
        state.faults.clear()
    }

    /// Moves the server's clock as clients see it in `Date`; the ends of tokens stay true.
    package func setDateOffset(_ offset: Duration) {
        state.dateOffset = offset
    }

    package var counters: RequestCounters { state.log.counters }

    /// The sequence number of the newest entry; 0 before the first.
    package var lastSequence: Int { state.log.lastSequence }

    /// The entries after `sequence`, oldest first; the log keeps at least the last 100,000.
    package func entries(after sequence: Int = 0) -> [LogEntry] {
        Array(state.log.entries(after: sequence))
    }

    /// Every entry from now on, in order; each use is a stream of its own and ends at `shutdown`.
    package var events: AsyncStream<LogEntry> { subscribe() }

    /// The first request after `sequence` for which `predicate` holds, past or to come.
    ///
    /// - Throws: `noRequest` when none fitted within `limit`.
    package func waitForRequest(
        after sequence: Int = 0,
        within limit: Duration = .seconds(10),
        where predicate: @escaping @Sendable (LogEntry) -> Bool
    ) async throws(DemoIssuerError) -> LogEntry {
        if let past = state.log.entries(after: sequence).first(where: predicate) { return past }
        // Subscribed before this actor can take up another request, so none slips through between.
        let coming = subscribe()
        let found = await withTaskGroup(of: LogEntry?.self) { group in
            group.addTask {
                for await entry in coming where predicate(entry) { return entry }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let found else { throw .noRequest(within: limit) }
        return found
    }

    // What connections ask of the issuer.

    func admit(_ request: Request) -> IssuerState.Admission {
        state.admit(request)
    }

    func answer(_ admission: IssuerState.Admission) -> Answer {
        publishing { state.answer(admission, at: $0) }
    }

    func release(_ admission: IssuerState.Admission) {
        state.release(admission, at: configuration.now())
    }

    func noteHeld(_ admission: IssuerState.Admission) {
        publishing { state.note(admission.draft, .held, at: $0) }
    }

    func noteNotServed(_ admission: IssuerState.Admission) {
        publishing { state.note(admission.draft, .notServed, at: $0) }
    }

    /// The log as `/admin/log` shows it, once there is something to show or the patience is at its end.
    func logAnswer(to request: Request, within patience: Duration) async -> Answer {
        guard state.isAdministrable else { return .notFound }
        let sequence = FormFields(request.query.utf8)?["after"].flatMap { Int($0) } ?? 0
        _ = try? await waitForRequest(after: sequence, within: patience) { $0.sequence > sequence }
        return .json(entries(after: sequence))
    }

    /// The time for the `Date` header (RFC 9110 §6.6.1).
    var dateHeader: String {
        HTTPDate.format((configuration.now() + state.dateOffset).wholeSeconds)
    }

    private func publishing<Result>(_ body: (_ now: Duration) -> Result) -> Result {
        let last = state.log.lastSequence
        let result = body(configuration.now())
        guard !subscribers.isEmpty else { return result }
        for entry in state.log.entries(after: last) {
            for subscriber in subscribers.values { subscriber.yield(entry) }
        }
        return result
    }

    private func subscribe() -> AsyncStream<LogEntry> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LogEntry.self,
            bufferingPolicy: .bufferingNewest(Self.bufferedEvents)
        )
        lastSubscriber += 1
        let number = lastSubscriber
        subscribers[number] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { await self?.unsubscribe(number) }
        }
        return stream
    }

    private func unsubscribe(_ number: Int) {
        subscribers[number] = nil
    }

    private typealias Listener = NIOAsyncChannel<Connection.HTTPChannel, Never>

    private func listen() async throws(DemoIssuerError) -> Listener {
        let prepareConnection = configuration.prepareConnection
        do {
            return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: Self.backlog)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: "127.0.0.1", port: configuration.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        do {
                            try prepareConnection(channel)
                        } catch {
                            // NIO leaves a channel open whose initializer failed; its client would wait for ever.
                            channel.close(promise: nil)
                            throw error
                        }
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        return try Connection.HTTPChannel(wrappingChannelSynchronously: channel)
                    }
                }
        } catch let error as IOError {
            throw .cannotListen(port: configuration.port, errno: error.errnoCode)
        } catch {
            throw .cannotListen(port: configuration.port, errno: 0)
        }
    }

    /// Serves each connection in a task of its own; one that breaks ends alone.
    ///
    /// It ends when the listening channel is closed, and is not cancelled: connections that had been accepted and not yet taken up would be
    /// dropped unserved, and NIO ends the process for that ("Deinited NIOAsyncWriter without calling finish()").
    @concurrent private nonisolated func accept(_ listener: Listener) async {
        try? await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await channel in connections {
                    group.addTask { try? await Connection(channel: channel, issuer: self).serve() }
                }
                group.cancelAll()
            }
        }
    }
}
