internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// The calls about web sessions. They return no secret of the daemon, so every process of the user may call them, like
/// `StartSignIn`.
extension RefreshCoordinator {
    private static let usualTimeoutSec: Int64 = 600

    func startWebSession(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        in room: WebSessions
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: StartWebSession.Parameters.self)
        guard call.wantsMore else { throw VarlinkError.expectedMore }
        let seconds = asked.timeoutSec ?? Self.usualTimeoutSec
        guard (1...3600).contains(seconds) else { throw .invalidParameter("timeoutSec") }
        let callback = try CallbackAddress(asked.callback)
        let (process, timeout) = (responder.peer.pid, Duration.seconds(seconds))
        let begun = room.assumeIsolated { room in
            room.start(callback, timeout: timeout, of: process) { report in
                switch report {
                case .started(let reply): responder.reply(reply, continues: true)
                case .completed(let reply): responder.reply(reply)
                case .notListening(let error): responder.fail(error.error(of: callback))
                case .ended(let end, let callback):
                    responder.fail(VarlinkError(WebSessionEndedError(callback: callback.text, reason: end.rawValue)))
                }
            }
        }
        switch begun {
        case .failure(.tooMany(let crowding)): throw refusal(of: process, .webSessions, crowding)
        case .failure(.underWay):
            throw Complaint(
                .noWebSession(callback: callback.text, kind: "busy"),
                "another web session waits for this callback",
                hint: "end that one first, or use another path"
            ).error
        case .failure(.stopping):
            throw Complaint(
                .noWebSession(callback: callback.text, kind: "unavailable"),
                "the daemon is stopping",
                hint: "try again when the daemon runs"
            ).error
        case .success(let id):
            responder.onDisconnect { [room] in
                room.executor.queue.async { room.assumeIsolated { $0.forget(id) } }
            }
        }
    }

    /// Passes a response to the web session that it belongs to.
    ///
    /// - Returns: nil if it belongs to a sign-in, or to nobody.
    /// - Throws: `InvalidSettings` if it is not the callback of the named session.
    func continueSession(
        _ call: VarlinkCall,
        in room: WebSessions
    ) throws(VarlinkError) -> ContinueSignIn.Reply? {
        let asked = try call.decodeParameters(as: ContinueSignIn.Parameters.self)
        guard let redirect = asked.redirect else { return nil }
        // If a sign-in waits for this state, the response belongs to that sign-in, wherever it arrived.
        if asked.attempt == nil, let state = (try? PastedRedirect.read(redirect))?.state,
            signIns.expecting(state) != nil
        {
            return nil
        }
        switch room.assumeIsolated({ $0.bring(redirect, to: asked.attempt) }) {
        case .taken: return ContinueSignIn.Reply(account: "")
        case .nobodys: return nil
        case .refused:
            throw Complaint(
                field: "redirect",
                "it does not begin with this session's callback address",
                hint: Complaint.wholeAddress
            ).error
        }
    }
}

extension RedirectListenerError {
    /// The reply to the caller that asked for a session with `callback`.
    fileprivate func error(of callback: CallbackAddress) -> VarlinkError {
        switch self {
        case .portTaken:
            Complaint(
                .noWebSession(callback: callback.text, kind: "busy"),
                reason,
                hint: "end the program that has the port (\(Command(program: "ss", "-ltnp"))), or leave the port out"
            ).error
        case .cannotListen:
            Complaint(
                .noWebSession(callback: callback.text, kind: "misconfigured"),
                reason,
                hint: "use another port, or leave it out"
            ).error
        }
    }
}
