internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// The calls about web sessions. They return no secret of the daemon, so every process of the user may call them, like
/// `StartSignIn`.
extension RefreshCoordinator {
    private static let usualTimeoutSec: Int64 = 600

    func startWebSession(_ asked: StartWebSession.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let seconds = asked.timeoutSec ?? Self.usualTimeoutSec
        guard (1...3600).contains(seconds) else { throw .invalidParameter("timeoutSec") }
        let callback = try CallbackAddress(asked.callback)
        let id = try beginWebSession(at: callback, timeout: .seconds(seconds), of: responder.peer.pid) { report in
            switch report {
            case .success(let reply): responder.reply(reply, continues: reply.url == nil)
            case .failure(let error): responder.fail(error)
            }
        }
        responder.onDisconnect { self.later { $0.webSessions.end(id, with: nil) } }
    }

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - process: the caller's process.
    ///   - follower: receives reports on this queue, after this method returns.
    /// - Returns: the session's ID.
    /// - Throws: `WebSessionNotStarted`; `LimitExceeded` if there are too many.
    func beginWebSession(
        at callback: CallbackAddress,
        timeout: Duration,
        of process: Int32,
        follower: @escaping WebSessions.Follower
    ) throws(VarlinkError) -> String {
        let now = timebase.now()
        webSessions.advance(at: now)
        guard !isStopping else {
            throw WebSessionNotStartedError(
                callback: callback.text,
                kind: "unavailable",
                reason: "the daemon is stopping",
                hint: "try again when the daemon runs"
            ).error
        }
        if let crowding = webSessions.crowding(for: process) { throw refusal(of: process, .webSessions, crowding) }
        guard !webSessions.isAwaited(callback) else {
            throw WebSessionNotStartedError(
                callback: callback.text,
                kind: "busy",
                reason: "another web session waits for this callback",
                hint: "end that one first, or use another path"
            ).error
        }
        let id = webSessions.add(callback, timeout: timeout, of: process, at: now, follower: follower)
        wake()
        Task { await openWebSession(id, at: callback) }
        return id
    }

    /// Starts to listen if the callback is on this machine, and tells the caller the address.
    private func openWebSession(_ id: String, at callback: CallbackAddress) async {
        var callback = callback
        var listener: RedirectListener?
        do throws(RedirectListenerError) {
            if callback.kind == .loopback {
                let opened = try await RedirectListener.open(
                    port: callback.port,
                    path: callback.path,
                    deliver: delivery(toWebSession: id)
                )
                callback.port = opened.port
                listener = opened
            }
            webSessions.started(id, at: callback, listener, at: timebase.now())
        } catch {
            webSessions.end(id, with: .failure(error.error(of: callback)))
        }
    }

    /// Passes on what browsers deliver to the listener of the session `id`.
    private func delivery(toWebSession id: String) -> RedirectListener.Deliver {
        { [weak self, queue] form, show in
            queue.async { [weak self] in
                guard let self else { return show(.webSessionOver) }
                self.assumeIsolated { show($0.webSessions.delivered(form, to: id, at: $0.timebase.now())) }
            }
        }
    }

    /// Passes a response to the web session that it belongs to.
    ///
    /// - Returns: nil if it belongs to a sign-in, or to nobody.
    /// - Throws: `InvalidSettings` if it is not the callback of the named session.
    func continueSession(_ asked: ContinueSignIn.Parameters) throws(VarlinkError) -> ContinueSignIn.Reply? {
        guard let redirect = asked.redirect else { return nil }
        // If a sign-in waits for this state, the response belongs to that sign-in, wherever it arrived.
        if asked.attempt == nil, let state = (try? AuthorizationResponse(pasted: redirect))?.state,
            signIns.expecting(state) != nil
        {
            return nil
        }
        let isTaken = try webSessions.bring(redirect, to: asked.attempt, at: timebase.now())
        return isTaken ? ContinueSignIn.Reply(account: "") : nil
    }
}

extension RedirectListenerError {
    /// The reply to the caller that asked for a session with `callback`.
    fileprivate func error(of callback: CallbackAddress) -> VarlinkError {
        switch self {
        case .portTaken:
            WebSessionNotStartedError(
                callback: callback.text,
                kind: "busy",
                reason: reason,
                hint: "end the program that has the port (\(Command(program: "ss", "-ltnp"))), or leave the port out"
            ).error
        case .cannotListen:
            WebSessionNotStartedError(
                callback: callback.text,
                kind: "misconfigured",
                reason: reason,
                hint: "use another port, or leave it out"
            ).error
        }
    }
}
