internal import AuthRefreshInterface
internal import Dispatch
internal import RefreshCore
internal import Varlink

/// The calls of agents that ask the user, and the questions of callers that wait for the answer.
struct ConfirmationCalls: DutyCalls {
    let coordinator: RefreshCoordinator

    func serve(_ call: VarlinkCall, _ responder: VarlinkResponder, on coordinator: isolated RefreshCoordinator)
        throws(VarlinkError)
    {
        _ = try call.decodeParameters(as: ServeConfirmations.Parameters.self)
        guard call.wantsMore else { throw VarlinkError.expectedMore }
        guard coordinator.confirmations.agentCount < CallerLimits.agentsMax else {
            throw VarlinkError(LimitExceededError(.agents, maximum: CallerLimits.agentsMax))
        }
        let number = coordinator.confirmations.addAgent { responder.reply($0.wireReply, continues: true) }
        responder.reply(ServeConfirmations.Reply(event: "ready"), continues: true)
        responder.onDisconnect { [coordinator] in coordinator.later { $0.confirmations.removeAgent(number) } }
    }

    func answer(_ call: VarlinkCall, on coordinator: isolated RefreshCoordinator) throws(VarlinkError)
        -> AnswerConfirmation.Reply
    {
        let asked = try call.decodeParameters(as: AnswerConfirmation.Parameters.self)
        guard let answer = ConfirmationAnswer(rawValue: asked.answer) else { throw .invalidParameter("answer") }
        let now = coordinator.timebase.now()
        guard let number = Int64(asked.question) else { return AnswerConfirmation.Reply(taken: false) }
        return AnswerConfirmation.Reply(taken: coordinator.confirmations.answer(number, answer, at: now))
    }

    /// Asks the user about a call that waits for the answer.
    ///
    /// - Parameter tell: called once on the coordinator's queue, but not if the caller goes away.
    func ask(
        _ question: ConfirmationQuestion,
        for responder: VarlinkResponder,
        on coordinator: isolated RefreshCoordinator,
        _ tell: @escaping @Sendable (ConfirmationOutcome) -> Void
    ) {
        let now = coordinator.timebase.now()
        if let known = coordinator.confirmations.known(question, at: now) { return tell(known) }
        let (number, asker) = ask(question, on: coordinator, tell)
        responder.onDisconnect { [coordinator] in coordinator.later { $0.confirmations.forget(asker, of: number) } }
    }

    /// Asks the user, or joins callers that ask the same.
    ///
    /// - Parameter time: how long the question is open. Tests use a shorter time.
    /// - Returns: the question's number and the caller's.
    func ask(
        _ question: ConfirmationQuestion,
        for time: Duration = CallerLimits.confirmationTime,
        on coordinator: isolated RefreshCoordinator,
        _ tell: @escaping @Sendable (ConfirmationOutcome) -> Void
    ) -> (question: Int64, asker: Int) {
        let (number, asker, isNew) = coordinator.confirmations.ask(question, at: coordinator.timebase.now(), tell)
        guard isNew else { return (number, asker) }
        let time = DispatchTimeInterval.microseconds(Int(time.microseconds))
        coordinator.queue.asyncAfter(deadline: .now() + time) { [weak coordinator] in
            coordinator?.assumeIsolated { $0.confirmations.expire(number) }
        }
        return (number, asker)
    }
}

extension DutyCalls {
    /// Checks whether a program may pass by an earlier answer of the user.
    ///
    /// - Returns: false if the user has to be asked first.
    /// - Throws: `PermissionDenied` if the user said no; `LimitExceeded`.
    func confirm(_ program: SeenProgram, for account: AccountName, _ caller: Caller) throws(VarlinkError) -> Bool {
        let question = ConfirmationQuestion(account: account, program: program)
        guard let outcome = caller.answer(to: question) else { return false }
        let denial: Denial
        switch outcome {
        case .allowed: return true
        case .denied: denial = .deniedByUser(account: account, program: "\(program)")
        case .unanswered: denial = .unanswered(account: account, program: "\(program)")
        case .noAgent: denial = .noAgent(account: account)
        case .tooMany(.ofAll):
            throw VarlinkError(LimitExceededError(.confirmations, maximum: CallerLimits.confirmationsMax))
        case .tooMany(.ofProgram):
            let maximum = CallerLimits.confirmationsOfProgramMax
            throw VarlinkError(LimitExceededError(.confirmationsOfProgram, maximum: maximum))
        }
        throw VarlinkError(denial.error)
    }
}

extension Confirmations.Notice {
    fileprivate var wireReply: ServeConfirmations.Reply {
        switch self {
        case .asked(let number, let question, let until):
            ServeConfirmations.Reply(
                event: "asked",
                question: String(number),
                account: question.account.text,
                executable: question.program.executable,
                unit: question.program.unit,
                untilUSec: until.microseconds
            )
        case .withdrawn(let number): ServeConfirmations.Reply(event: "withdrawn", question: String(number))
        }
    }
}
