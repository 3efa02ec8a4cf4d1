internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// The calls of agents that ask the user, and the questions of callers that wait for the answer.
extension RefreshCoordinator {
    func serveConfirmations(_ call: VarlinkCall, _ responder: VarlinkResponder) throws(VarlinkError) {
        _ = try call.decodeParameters(as: ServeConfirmations.Parameters.self)
        guard call.wantsMore else { throw VarlinkError.expectedMore }
        let number = confirmations.addAgent { responder.reply($0.wireReply, continues: true) }
        responder.reply(ServeConfirmations.Reply(event: "ready"), continues: true)
        responder.onDisconnect { self.later { $0.confirmations.removeAgent(number) } }
    }

    func answerConfirmation(_ call: VarlinkCall) throws(VarlinkError) -> AnswerConfirmation.Reply {
        let asked = try call.decodeParameters(as: AnswerConfirmation.Parameters.self)
        guard let answer = ConfirmationAnswer(rawValue: asked.answer) else { throw .invalidParameter("answer") }
        let now = timebase.now()
        guard let number = Int64(asked.question) else { return AnswerConfirmation.Reply(taken: false) }
        return AnswerConfirmation.Reply(taken: confirmations.answer(number, answer, at: now))
    }

    /// Asks the user about a call that waits for the answer.
    ///
    /// - Parameter tell: called once on the coordinator's queue, but not if the caller goes away.
    func askUser(
        _ question: ConfirmationQuestion,
        for responder: VarlinkResponder,
        _ tell: @escaping @Sendable (ConfirmationOutcome) -> Void
    ) {
        let now = timebase.now()
        let process = responder.peer.pid
        if let known = confirmations.known(question, for: process, at: now) {
            if case .tooMany(let crowding) = known { _ = refusal(of: process, .confirmations, crowding) }
            return tell(known)
        }
        let number = askUser(question, of: process, tell)
        responder.onDisconnect { self.later { $0.confirmations.withdraw(number) } }
    }

    /// Asks the user.
    ///
    /// - Parameters:
    ///   - process: the process whose call waits.
    ///   - time: how long the question is open. Tests use a shorter time.
    /// - Returns: the question's number.
    @discardableResult
    func askUser(
        _ question: ConfirmationQuestion,
        of process: Int32,
        for time: Duration = CallerLimits.confirmationTime,
        _ tell: @escaping @Sendable (ConfirmationOutcome) -> Void
    ) -> Int64 {
        let number = confirmations.ask(question, of: process, at: timebase.now(), tell)
        let time = DispatchTimeInterval.microseconds(Int(time.microseconds))
        queue.asyncAfter(deadline: .now() + time) { [weak self] in
            self?.assumeIsolated { $0.confirmations.expire(number) }
        }
        return number
    }
}

extension Confirmations.Notice {
    fileprivate var wireReply: ServeConfirmations.Reply {
        switch self {
        case .asked(let number, let question, let until):
            var reply = ServeConfirmations.Reply(
                event: "asked",
                question: String(number),
                account: question.account.text,
                request: question.request.wireName.rawValue,
                untilUSec: until.microseconds
            )
            switch question.request {
            case .tokens(let host): reply.host = host
            case .change(let settings): reply.settings = settings
            case .derivation(let derived): reply.derivedAccount = derived.text
            case .export, .removal: break
            }
            return reply
        case .withdrawn(let number): return ServeConfirmations.Reply(event: "withdrawn", question: String(number))
        }
    }
}

extension ConfirmationQuestion.Request {
    fileprivate var wireName: ConfirmationRequest {
        switch self {
        case .tokens: .token
        case .export: .export
        case .change: .change
        case .removal: .remove
        case .derivation: .derive
        }
    }
}
