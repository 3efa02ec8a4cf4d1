internal import AuthRefreshInterface
internal import Dispatch
internal import RefreshCore
internal import TextEncodings
internal import Varlink

/// The web sessions under way. Each waits for one callback for the program that requested it.
///
/// They are independent of accounts. Only the address of a response is checked; the caller has to check the rest. A
/// session ends with its callback, after its time limit, or when its caller goes away.
actor WebSessions {
    /// What the caller of a session is told.
    enum Report: Sendable {
        case started(StartWebSession.Reply)
        /// The last report: the callback has arrived.
        case completed(StartWebSession.Reply)
        /// The last report: the session could not begin.
        case notListening(RedirectListenerError)
        /// The last report: there was no callback.
        case ended(WebSessionEnd, CallbackAddress)
    }

    /// The result of an address that a person or the desktop brought.
    enum Taking: Sendable {
        case taken
        /// The named session has another callback, and continues.
        case refused
        /// No session has this callback.
        case nobodys
    }

    typealias Follower = @Sendable (Report) -> Void

    private struct Session {
        let process: Int32
        let startedAt: Moment
        let timeout: Duration
        let follower: Follower
        /// The callback, with the port once it is known.
        var callback: CallbackAddress
        var isStarted = false
        var listener: RedirectListener?

        func remaining(at now: Moment) -> Duration {
            max(timeout - now.elapsed(since: startedAt), .zero)
        }
    }

    /// The same limit as for a browser's request.
    private static let urlBytesMax = RedirectLimits().redirectBytesMax

    nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let timebase: Timebase
    /// The sessions by their ID on the wire.
    private var running: [String: Session] = [:]
    private var alarm: SessionAlarm?
    private var isStopping = false

    /// Creates the actor.
    ///
    /// - Parameter executor: the coordinator's, so that calls wait only once.
    init(executor: DispatchQueueExecutor, timebase: Timebase) {
        self.executor = executor
        self.timebase = timebase
    }

    // MARK: Callers

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - process: the caller's process.
    ///   - follower: receives `started` and the end, on this queue, after this method returns.
    /// - Returns: the session's ID.
    func start(
        _ callback: CallbackAddress,
        timeout: Duration,
        of process: Int32,
        follower: @escaping Follower
    ) -> Result<String, WebSessionStartError> {
        advance()
        guard !isStopping else { return .failure(.stopping) }
        let shares = Shares(capacity: CallerLimits.webSessionsMax, holders: running.values.map(\.process))
        if let crowding = shares.crowding(1, for: process) { return .failure(.tooMany(crowding)) }
        guard !running.values.contains(where: { $0.callback.isSame(as: callback) }) else { return .failure(.underWay) }
        // 128 random bits, as for a sign-in.
        let id = RandomText.text(bits: 128)
        running[id] = Session(
            process: process,
            startedAt: timebase.now(),
            timeout: timeout,
            follower: follower,
            callback: callback
        )
        arm()
        Task { await open(id) }
        return .success(id)
    }

    /// Ends a session whose caller has gone.
    func forget(_ id: String) {
        guard let session = running.removeValue(forKey: id) else { return }
        session.listener?.close()
        arm()
    }

    /// Ends all sessions, because the daemon stops.
    func stop() {
        isStopping = true
        for id in running.keys.sorted() { end(id, .stopping) }
    }

    // MARK: Responses

    /// Handles an address from a person or the desktop.
    ///
    /// - Parameter id: the session that it is for; nil finds the session by its callback.
    func bring(_ text: String, to id: String?) -> Taking {
        advance()
        let url = CallbackURL.text(brought: text)
        let fits = { (session: Session) in
            session.isStarted && url.utf8.count <= Self.urlBytesMax && session.callback.isPlace(of: url)
        }
        if let id {
            guard let session = running[id] else { return .nobodys }
            guard fits(session) else { return .refused }
            complete(id, with: url)
            return .taken
        }
        guard let found = running.first(where: { fits($0.value) }) else { return .nobodys }
        complete(found.key, with: url)
        return .taken
    }

    /// Handles what a browser delivered to the listener of the session `id`. An empty response counts as well.
    private func delivered(
        _ form: RedirectListener.Delivery,
        to id: String,
        show: @escaping @Sendable (RedirectPage) -> Void
    ) {
        advance()
        guard let session = running[id], session.isStarted else { return show(.webSessionOver) }
        complete(id, with: CallbackURL.text(of: session.callback, query: form))
        show(.webSessionDone)
    }

    /// Ends the sessions whose time is over.
    func advance() {
        let now = timebase.now()
        for (id, session) in running where session.remaining(at: now) == .zero { end(id, .timedOut) }
        arm()
    }

    // MARK: Steps

    /// Starts to listen if the callback is on this machine, and tells the caller the address.
    private func open(_ id: String) async {
        guard let callback = running[id]?.callback else { return }
        guard callback.kind == .loopback else { return started(id, at: callback, listener: nil) }
        do throws(RedirectListenerError) {
            let listener = try await RedirectListener.open(
                port: callback.port,
                path: callback.path,
                deliver: delivery(to: id)
            )
            var callback = callback
            callback.port = listener.port
            started(id, at: callback, listener: listener)
        } catch {
            guard let session = running.removeValue(forKey: id) else { return }
            session.follower(.notListening(error))
            arm()
        }
    }

    private func started(_ id: String, at callback: CallbackAddress, listener: RedirectListener?) {
        // The caller has gone in the meantime.
        guard var session = running[id] else {
            listener?.close()
            return
        }
        (session.callback, session.listener, session.isStarted) = (callback, listener, true)
        running[id] = session
        session.follower(.started(reply("started", of: id, session)))
    }

    /// Passes on what browsers deliver to the listener of the session `id`.
    private func delivery(to id: String) -> RedirectListener.Deliver {
        { [weak self, queue = executor.queue] form, show in
            queue.async { [weak self] in
                guard let self else { return show(.webSessionOver) }
                self.assumeIsolated { $0.delivered(form, to: id, show: show) }
            }
        }
    }

    private func complete(_ id: String, with url: String) {
        guard let session = running.removeValue(forKey: id) else { return }
        session.listener?.close()
        var reply = reply("completed", of: id, session)
        reply.url = url
        session.follower(.completed(reply))
        arm()
    }

    private func end(_ id: String, _ end: WebSessionEnd) {
        guard let session = running.removeValue(forKey: id) else { return }
        session.listener?.close()
        session.follower(.ended(end, session.callback))
    }

    private func reply(_ event: String, of id: String, _ session: Session) -> StartWebSession.Reply {
        let now = timebase.now()
        return StartWebSession.Reply(
            event: event,
            attempt: id,
            atUSec: now.wall.microseconds,
            expiresAtUSec: (now.wall + session.remaining(at: now)).microseconds,
            callback: session.callback.text
        )
    }

    /// Schedules `advance` for the end of the first session's time.
    private func arm() {
        let now = timebase.now()
        let rest = running.values.map { $0.remaining(at: now) }.min()
        guard rest != nil || alarm != nil else { return }
        let alarm =
            alarm
            ?? SessionAlarm(queue: executor.queue) { [weak self] in
                self?.assumeIsolated { $0.advance() }
            }
        alarm.set(after: rest)
        self.alarm = alarm
    }
}

/// Why a web session did not begin.
enum WebSessionStartError: Error, Hashable, Sendable {
    /// Another session has the same callback.
    case underWay
    case tooMany(Shares.Crowding)
    case stopping
}

/// How a web session ends without a callback.
enum WebSessionEnd: String, Hashable, Sendable {
    case timedOut
    case stopping
}

/// A timer for the sessions only. They are few, and no account depends on them.
///
/// It does not count during a sleep. Each arrival checks the clock first, so that no answer is accepted too late.
private final class SessionAlarm {
    private let source: any DispatchSourceTimer

    init(queue: DispatchQueue, onTime: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: onTime)
        source.schedule(deadline: .distantFuture)
        source.activate()
    }

    deinit { source.cancel() }

    /// Sets the timer.
    ///
    /// - Parameter time: nil stops it.
    func set(after time: Duration?) {
        let deadline = time.map { DispatchTime.now() + .microseconds(Int($0.microseconds)) }
        source.schedule(deadline: deadline ?? .distantFuture)
    }
}
