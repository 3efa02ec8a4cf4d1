internal import AuthRefreshInterface
internal import RefreshCore
internal import TextEncodings
internal import Varlink

/// The web sessions under way. Each waits for one callback for the program that requested it.
///
/// They are independent of accounts. Only the address of a response is checked; the caller has to check the rest. A
/// session ends with its callback, after its time limit, or when its caller goes away.
struct WebSessions {
    /// Receives `started`, then `completed` or the error with which the session ends.
    typealias Follower = @Sendable (Result<StartWebSession.Reply, VarlinkError>) -> Void

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

    /// The sessions by their ID on the wire.
    private var running: [String: Session] = [:]

    /// Adds a session, which accepts nothing before `started`.
    ///
    /// - Returns: its ID.
    mutating func add(
        _ callback: CallbackAddress,
        timeout: Duration,
        of process: Int32,
        at now: Moment,
        follower: @escaping Follower
    ) -> String {
        // 128 random bits, as for a sign-in.
        let id = RandomText.text(bits: 128)
        running[id] = Session(
            process: process,
            startedAt: now,
            timeout: timeout,
            follower: follower,
            callback: callback
        )
        return id
    }

    /// Who has the most sessions, if `process` may not begin another one.
    func crowding(for process: Int32) -> Shares.Crowding? {
        Shares(capacity: CallerLimits.webSessionsMax, holders: running.values.map(\.process)).crowding(1, for: process)
    }

    /// Whether a browser that is sent to `callback` could reach another session.
    func isAwaited(_ callback: CallbackAddress) -> Bool {
        running.values.contains { $0.callback.isSame(as: callback) }
    }

    /// Tells the caller the address.
    mutating func started(_ id: String, at callback: CallbackAddress, _ listener: RedirectListener?, at now: Moment) {
        // The caller has gone in the meantime.
        guard var session = running[id] else {
            listener?.close()
            return
        }
        (session.callback, session.listener, session.isStarted) = (callback, listener, true)
        running[id] = session
        session.follower(.success(Self.reply("started", of: id, session, at: now)))
    }

    /// Handles an address from a person or the desktop.
    ///
    /// - Parameter name: the ID of the session that it is for; nil finds the session by its callback.
    /// - Returns: whether there is such a session.
    /// - Throws: `InvalidSettings` if the named session has another callback. It continues.
    mutating func bring(_ text: String, to name: String?, at now: Moment) throws(VarlinkError) -> Bool {
        advance(at: now)
        let url = CallbackAddress.url(brought: text)
        let fits = { (session: Session) in
            session.isStarted && url.utf8.count <= Self.urlBytesMax && session.callback.isPlace(of: url)
        }
        let found = running.first { name == nil ? fits($0.value) : $0.key == name }
        guard let (id, session) = found else { return false }
        guard fits(session) else {
            throw Complaint(
                field: "redirect",
                "it does not begin with this session's callback address",
                hint: Complaint.wholeAddress
            ).error
        }
        complete(id, with: url, at: now)
        return true
    }

    /// Handles what a browser delivered to the listener of the session `id`. An empty response counts as well.
    ///
    /// - Returns: the page to show.
    mutating func delivered(_ form: RedirectListener.Delivery, to id: String, at now: Moment) -> RedirectPage {
        advance(at: now)
        guard let session = running[id], session.isStarted else { return .webSessionOver }
        complete(id, with: session.callback.url(query: form), at: now)
        return .webSessionDone
    }

    private mutating func complete(_ id: String, with url: String, at now: Moment) {
        guard let session = running[id] else { return }
        var reply = Self.reply("completed", of: id, session, at: now)
        reply.url = url
        end(id, with: .success(reply))
    }

    // MARK: Ends

    /// How long until the time of a session is over; nil if there is none.
    func remaining(at now: Moment) -> Duration? { running.values.map { $0.remaining(at: now) }.min() }

    /// Ends the sessions whose time is over.
    mutating func advance(at now: Moment) {
        for (id, session) in running where session.remaining(at: now) == .zero { end(id, because: "timedOut") }
    }

    /// Ends all sessions, because the daemon stops.
    mutating func stop() {
        for id in running.keys.sorted() { end(id, because: "stopping") }
    }

    private mutating func end(_ id: String, because reason: String) {
        guard let callback = running[id]?.callback.text else { return }
        end(id, with: .failure(WebSessionEndedError(callback: callback, reason: reason).error))
    }

    /// Ends a session.
    ///
    /// - Parameter report: what the caller is told; nil if it has gone.
    mutating func end(_ id: String, with report: Result<StartWebSession.Reply, VarlinkError>?) {
        guard let session = running.removeValue(forKey: id) else { return }
        session.listener?.close()
        report.map(session.follower)
    }

    private static func reply(_ event: String, of id: String, _ session: Session, at now: Moment)
        -> StartWebSession.Reply
    {
        StartWebSession.Reply(
            event: event,
            attempt: id,
            atUSec: now.wall.microseconds,
            expiresAtUSec: (now.wall + session.remaining(at: now)).microseconds,
            callback: session.callback.text
        )
    }
}
