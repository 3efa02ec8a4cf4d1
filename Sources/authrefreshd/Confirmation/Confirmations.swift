internal import AuthRefreshInterface
internal import RefreshCore

/// What the user is asked: may this program have this account's secrets?
struct ConfirmationQuestion: Hashable, Sendable {
    let account: AccountName
    let program: SeenProgram
}

/// What became of a question.
enum ConfirmationOutcome: Hashable, Sendable {
    case allowed
    case denied
    /// Nobody has answered in time.
    case unanswered
    /// No agent is there that could ask.
    case noAgent
    /// The user has too many questions to answer already, from all programs or from this one.
    case tooMany(Limit)

    enum Limit: Hashable, Sendable {
        case ofAll, ofProgram
    }
}

/// The questions to the user, and what they have answered for the time to come. Kept in memory only.
///
/// Programs that ask the same share one question, and what the user has said of a program holds for its later calls as long as they said.
struct Confirmations {
    /// How long an answer holds, if the user has not said "once".
    static func validity(of answer: ConfirmationAnswer) -> Duration? {
        switch answer {
        case .allowOnce: nil
        case .allowForAnHour: .seconds(3600)
        // A program in a loop is not to make the user answer in a loop.
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
        /// Those who wait, by their numbers.
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

    // MARK: Those who ask the user

    /// Adds an agent, which is told the questions that are open.
    ///
    /// - Returns: its number, to remove it by.
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

    /// Takes the user's word.
    ///
    /// - Returns: whether anybody waited for it.
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

    /// Forgets what the user has said of an account that is not of this name any more.
    mutating func forgetAnswers(of account: AccountName) {
        standing = standing.filter { $0.key.account != account }
    }

    // MARK: Those who wait for an answer

    /// What a caller is told at once; nil if the user has to be asked.
    func known(_ question: ConfirmationQuestion, at now: Moment) -> ConfirmationOutcome? {
        if let known = standing[question], known.isValid(at: now) { return known.outcome }
        if agents.isEmpty { return .noAgent }
        if open.values.contains(where: { $0.question == question }) { return nil }
        let own = open.values.count { $0.question.program == question.program }
        guard own < CallerLimits.confirmationsOfProgramMax else { return .tooMany(.ofProgram) }
        return open.count < CallerLimits.confirmationsMax ? nil : .tooMany(.ofAll)
    }

    /// Adds one who waits.
    ///
    /// - Returns: the question's number, and the asker's.
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

    /// Forgets one who has gone; a question that nobody waits for is withdrawn.
    mutating func forget(_ asker: Int, of question: Int64) {
        open[question]?.askers[asker] = nil
        if open[question]?.askers.isEmpty == true { close(question, .unanswered) }
    }

    /// The time of a question is over.
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
    /// Whether there is anything by which it would be known again.
    fileprivate var isKnown: Bool { unit != nil || executable != nil }
}
