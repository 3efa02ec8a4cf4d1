internal import AuthRefreshInterface
internal import RefreshCore

/// A question to the user: may this program have this account's secrets?
struct ConfirmationQuestion: Hashable, Sendable {
    let account: AccountName
    let program: SeenProgram
}

/// The result of a question.
enum ConfirmationOutcome: Hashable, Sendable {
    case allowed
    case denied
    /// Nobody answered in time.
    case unanswered
    /// No agent is connected that could ask.
    case noAgent
    /// The user already has too many open questions, from all programs or from this one.
    case tooMany(Limit)

    enum Limit: Hashable, Sendable {
        case ofAll, ofProgram
    }
}

/// The questions to the user, and the answers that apply to later calls. They are kept only in memory.
///
/// Programs that ask the same thing share one question. An answer applies to the program's later calls for as long as
/// the user chose.
struct Confirmations {
    /// How long an answer applies; nil if the user said "once".
    static func validity(of answer: ConfirmationAnswer) -> Duration? {
        switch answer {
        case .allowOnce: nil
        case .allowForAnHour: .seconds(3600)
        // A "no" applies for a minute, so that a program in a loop does not make the user answer in a loop.
        case .deny: .seconds(60)
        }
    }

    /// What an agent is told.
    enum Notice: Hashable, Sendable {
        case asked(Int64, ConfirmationQuestion, until: Timestamp)
        case withdrawn(Int64)
    }

    private struct Open {
        let question: ConfirmationQuestion
        let until: Timestamp
        /// The waiting callers, by number.
        var askers: [Int: @Sendable (ConfirmationOutcome) -> Void] = [:]
    }

    private struct Standing {
        let outcome: ConfirmationOutcome
        let since: Moment
        let validity: Duration

        func isValid(at now: Moment) -> Bool { now.elapsed(since: since) < validity }
    }

    private var agents: [Int: @Sendable (Notice) -> Void] = [:]
    private var open: [Int64: Open] = [:]
    private var standing: [ConfirmationQuestion: Standing] = [:]
    private var lastNumber = 0
    private var lastQuestion: Int64 = 0

    var agentCount: Int { agents.count }

    // MARK: Agents

    /// Adds an agent, which is told the open questions.
    ///
    /// - Returns: its number, for its removal.
    mutating func addAgent(_ tell: @escaping @Sendable (Notice) -> Void) -> Int {
        lastNumber += 1
        agents[lastNumber] = tell
        for (number, one) in open.sorted(by: { $0.key < $1.key }) {
            tell(.asked(number, one.question, until: one.until))
        }
        return lastNumber
    }

    mutating func removeAgent(_ number: Int) {
        agents[number] = nil
        guard agents.isEmpty else { return }
        for question in open.keys { close(question, .noAgent) }
    }

    /// Applies the user's answer.
    ///
    /// - Returns: whether anybody was waiting for it.
    mutating func answer(_ question: Int64, _ answer: ConfirmationAnswer, at now: Moment) -> Bool {
        guard let asked = open[question]?.question else { return false }
        let outcome: ConfirmationOutcome = answer == .deny ? .denied : .allowed
        if let validity = Self.validity(of: answer), asked.program.isKnown {
            standing = standing.filter { $0.value.isValid(at: now) }
            if standing.count >= CallerLimits.standingAnswersMax { standing = [:] }
            standing[asked] = Standing(outcome: outcome, since: now, validity: validity)
        }
        close(question, outcome)
        return true
    }

    /// Forgets the answers about an account that no longer has this name.
    mutating func forgetAnswers(of account: AccountName) {
        standing = standing.filter { $0.key.account != account }
    }

    // MARK: Callers that wait

    /// The answer that a caller gets at once; nil if the user has to be asked.
    func known(_ question: ConfirmationQuestion, at now: Moment) -> ConfirmationOutcome? {
        if let known = standing[question], known.isValid(at: now) { return known.outcome }
        if agents.isEmpty { return .noAgent }
        if open.values.contains(where: { $0.question == question }) { return nil }
        let own = open.values.count { $0.question.program == question.program }
        guard own < CallerLimits.confirmationsOfProgramMax else { return .tooMany(.ofProgram) }
        return open.count < CallerLimits.confirmationsMax ? nil : .tooMany(.ofAll)
    }

    /// Adds a waiting caller.
    ///
    /// - Returns: the question's number and the caller's.
    mutating func ask(
        _ question: ConfirmationQuestion,
        at now: Moment,
        _ tell: @escaping @Sendable (ConfirmationOutcome) -> Void
    ) -> (question: Int64, asker: Int, isNew: Bool) {
        lastNumber += 1
        if let number = open.first(where: { $0.value.question == question })?.key {
            open[number]?.askers[lastNumber] = tell
            return (number, lastNumber, false)
        }
        lastQuestion += 1
        let until = now.wall + CallerLimits.confirmationTime
        open[lastQuestion] = Open(question: question, until: until, askers: [lastNumber: tell])
        for agent in agents.values { agent(.asked(lastQuestion, question, until: until)) }
        return (lastQuestion, lastNumber, true)
    }

    /// Removes a caller that has gone. A question without callers is withdrawn.
    mutating func forget(_ asker: Int, of question: Int64) {
        open[question]?.askers[asker] = nil
        if open[question]?.askers.isEmpty == true { close(question, .unanswered) }
    }

    /// Handles the end of a question's time.
    mutating func expire(_ question: Int64) {
        close(question, .unanswered)
    }

    private mutating func close(_ question: Int64, _ outcome: ConfirmationOutcome) {
        guard let closed = open.removeValue(forKey: question) else { return }
        for agent in agents.values { agent(.withdrawn(question)) }
        for asker in closed.askers.values { asker(outcome) }
    }
}

extension SeenProgram {
    /// Whether the program has any property by which it can be recognized.
    fileprivate var isKnown: Bool { unit != nil || executable != nil }
}
