internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Varlink

/// The calls of agents that ask the user, and the questions of callers that wait for the answer.
extension RefreshCoordinator {
    func serveConfirmations(_: ServeConfirmations.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let number = confirmations.addAgent { responder.reply($0, continues: true) }
        responder.reply(ServeConfirmations.Reply(event: "ready"), continues: true)
        responder.onDisconnect { self.later { $0.confirmations.removeAgent(number) } }
    }

    func answerConfirmation(_ asked: AnswerConfirmation.Parameters) throws(VarlinkError) -> AnswerConfirmation.Reply {
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
        let number = confirmations.ask(question, of: process, at: now, tell)
        wake()
        responder.onDisconnect { self.later { $0.confirmations.withdraw(number) } }
    }
}

extension ServeConfirmations.Reply {
    /// A question that is open since then.
    static func asked(_ number: Int64, _ question: ConfirmationQuestion, since: Moment) -> Self {
        var reply = Self(event: "asked", question: String(number), account: question.account.text)
        reply.untilUSec = (since.wall + CallerLimits.confirmationTime).microseconds
        let request: ConfirmationRequest
        switch question.request {
        case .tokens(let host): (request, reply.host) = (.token, host)
        case .export: request = .export
        case .change(let settings): (request, reply.settings) = (.change, settings)
        case .removal: request = .remove
        case .derivation(let derived): (request, reply.derivedAccount) = (.derive, derived.text)
        }
        reply.request = request.rawValue
        return reply
    }

    static func withdrawn(_ number: Int64) -> Self { Self(event: "withdrawn", question: String(number)) }
}
