internal import AuthRefreshInterface
internal import Dispatch
internal import RedirectListener
internal import RefreshCore
internal import SignIn
internal import Varlink

/// The calls about web sessions. They return no secret of the daemon, so every process of the user may call them, like
/// `StartSignIn`.
struct WebSessionCalls: Sendable {
    private static let usualTimeoutSec: Int64 = 600

    let room: WebSessions

    func start(
        _ call: VarlinkCall,
        _ responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: StartWebSession.Parameters.self)
        guard call.wantsMore else { throw VarlinkError.expectedMore }
        let seconds = asked.timeoutSec ?? Self.usualTimeoutSec
        guard (1...3600).contains(seconds) else { throw .invalidParameter("timeoutSec") }
        let callback = try read(asked.callback)
        let (process, timeout) = (responder.peer.pid, Duration.seconds(seconds))
        let begun = room.assumeIsolated { room in
            room.start(callback, timeout: timeout, of: process) { report in
                switch report {
                case .started(let reply): responder.reply(reply, continues: true)
                case .completed(let reply): responder.reply(reply)
                case .refused(let refusal): responder.fail(VarlinkError(refusal, of: callback))
                case .ended(let end, let callback):
                    responder.fail(VarlinkError(WebSessionEndedError(callback: callback.text, reason: end.rawValue)))
                }
            }
        }
        switch begun {
        case .failure(.tooMany(let crowding)): throw coordinator.refusal(of: process, .webSessions, crowding)
        case .failure(let refusal): throw VarlinkError(refusal, of: callback)
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
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) -> ContinueSignIn.Reply? {
        let asked = try call.decodeParameters(as: ContinueSignIn.Parameters.self)
        guard let redirect = asked.redirect else { return nil }
        // If a sign-in waits for this state, the response belongs to that sign-in, wherever it arrived.
        if asked.attempt == nil, let state = (try? PastedRedirect.read(redirect))?.state,
            coordinator.signIns.expecting(state) != nil
        {
            return nil
        }
        switch room.assumeIsolated({ $0.bring(redirect, to: asked.attempt) }) {
        case .taken: return ContinueSignIn.Reply(account: "")
        case .nobodys: return nil
        case .refused:
            throw .invalid(WrongArgument.answerForOtherCallback)
        }
    }

    private func read(_ callback: String) throws(VarlinkError) -> CallbackAddress {
        do throws(CallbackFlaw) {
            return try CallbackAddress(callback)
        } catch {
            throw .invalid(WrongArgument.callback(error))
        }
    }
}

extension VarlinkError {
    /// The error if a web session cannot begin.
    fileprivate init(_ refusal: WebSessionRefusal, of callback: CallbackAddress) {
        let told: (kind: String, reason: String, hint: String)
        switch refusal {
        case .tooMany(let crowding):
            self = Hoarder(.webSessions, crowding).error
            return
        case .underWay:
            told = ("busy", CallText.callbackTaken.text, WebSessionObstacle.underWay.hint)
        case .notListening(let error):
            switch error {
            case .portTaken: told = ("busy", error.reason, WebSessionObstacle.portTaken.hint)
            case .cannotListen: told = ("misconfigured", error.reason, WebSessionObstacle.noPort.hint)
            }
        case .stopping: told = ("unavailable", SignInObstacle.stopping.reason, WebSessionObstacle.stopping.hint)
        }
        self.init(
            WebSessionNotStartedError(
                callback: callback.text,
                kind: told.kind,
                reason: told.reason,
                hint: told.hint
            )
        )
    }
}
