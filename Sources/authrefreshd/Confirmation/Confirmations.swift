internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// A question to the user: may a program have this of this account?
///
/// Everything that the user is told is a part of it, so an answer never applies to anything else.
struct ConfirmationQuestion: Hashable, Sendable {
    /// What a program wants.
    enum Request: Hashable, Sendable {
        /// The account's tokens, and proofs made with its key.
        ///
        /// - Parameter host: the machine on which the program runs, if its call was forwarded; nil for this one.
        case tokens(host: String?)
        /// The grant and all secrets of the client.
        case export
        /// A change of these settings.
        case change(settings: [String])
        case removal
        /// Another account, which gets its tokens with those of this one, without further questions.
        case derivation(of: AccountName)
    }

    let account: AccountName
    let request: Request
}

/// The result of a question.
enum ConfirmationOutcome: Hashable, Sendable {
    case allowed
    case denied
    /// Nobody answered in time.
    case unanswered
    /// No agent is connected that could ask.
    case noAgent
    /// The user already has too many open questions, of this process or of others.
    case tooMany(Shares.Crowding)
}

/// The questions to the user, and the answers that apply to later calls. They are kept only in memory.
///
/// Each call has a question of its own. Of several that are alike, the user sees one at a time.
struct Confirmations {
    /// How long an answer applies to later calls with the same question; nil if it applies to one call.
    ///
    /// Only tokens are given out for an hour. All programs of the user's session look alike from here (`authctl`), so
    /// the hour is for all of them.
    static func validity(of answer: ConfirmationAnswer, to request: ConfirmationQuestion.Request) -> Duration? {
        switch (answer, request) {
        case (.allowOnce, _): nil
        case (.allowForAnHour, .tokens): .seconds(3600)
        case (.allowForAnHour, .export), (.allowForAnHour, .change), (.allowForAnHour, .removal),
            (.allowForAnHour, .derivation):
            nil
        // A "no" applies for a minute, so that a program in a loop does not make the user answer in a loop.
        case (.deny, _): .seconds(60)
        }
    }

    /// A call that waits.
    private struct Open {
        let question: ConfirmationQuestion
        let process: Int32
        let since: Moment
        let tell: @Sendable (ConfirmationOutcome) -> Void

        func remaining(at now: Moment) -> Duration {
            max(CallerLimits.confirmationTime - now.elapsed(since: since), .zero)
        }
    }

    private struct Standing {
        let outcome: ConfirmationOutcome
        let since: Moment
        let validity: Duration

        func isValid(at now: Moment) -> Bool { now.elapsed(since: since) < validity }
    }

    private var agents: [Int: @Sendable (ServeConfirmations.Reply) -> Void] = [:]
    private var open: [Int64: Open] = [:]
    private var standing: [ConfirmationQuestion: Standing] = [:]
    private var lastAgent = 0
    private var lastNumber: Int64 = 0

    // MARK: Agents

    /// Adds an agent, which is told the open questions.
    ///
    /// - Returns: its number, for its removal.
    mutating func addAgent(_ tell: @escaping @Sendable (ServeConfirmations.Reply) -> Void) -> Int {
        lastAgent += 1
        agents[lastAgent] = tell
        for (number, one) in open.sorted(by: { $0.key < $1.key }) where number == first(like: one.question) {
            tell(.asked(number, one.question, since: one.since))
        }
        return lastAgent
    }

    mutating func removeAgent(_ number: Int) {
        agents[number] = nil
        guard agents.isEmpty else { return }
        for number in open.keys { close(number, .noAgent) }
    }

    /// Applies the user's answer.
    ///
    /// - Returns: whether anybody was waiting for it.
    mutating func answer(_ number: Int64, _ answer: ConfirmationAnswer, at now: Moment) -> Bool {
        guard let question = open[number]?.question else { return false }
        let outcome: ConfirmationOutcome = answer == .deny ? .denied : .allowed
        guard let validity = Self.validity(of: answer, to: question.request) else {
            close(number, outcome)
            return true
        }
        standing = standing.filter { $0.value.isValid(at: now) }
        if standing.count >= CallerLimits.standingAnswersMax { standing = [:] }
        standing[question] = Standing(outcome: outcome, since: now, validity: validity)
        closeAll(outcome) { $0.question == question }
        return true
    }

    /// Forgets everything about an account that no longer has this name. Another account may get the name.
    mutating func forget(_ account: AccountName) {
        standing = standing.filter { $0.key.account != account }
        closeAll(.unanswered) { $0.question.account == account }
    }

    // MARK: Callers that wait

    /// The answer that a caller gets at once; nil if the user has to be asked.
    func known(_ question: ConfirmationQuestion, for process: Int32, at now: Moment) -> ConfirmationOutcome? {
        if let known = standing[question], known.isValid(at: now) { return known.outcome }
        if agents.isEmpty { return .noAgent }
        let shares = Shares(capacity: CallerLimits.confirmationsMax, holders: open.values.map(\.process))
        return shares.crowding(1, for: process).map { .tooMany($0) }
    }

    /// Adds a waiting caller.
    ///
    /// - Returns: the number of its question.
    mutating func ask(
        _ question: ConfirmationQuestion,
        of process: Int32,
        at now: Moment,
        _ tell: @escaping @Sendable (ConfirmationOutcome) -> Void
    ) -> Int64 {
        lastNumber += 1
        open[lastNumber] = Open(question: question, process: process, since: now, tell: tell)
        if first(like: question) == lastNumber { show(lastNumber) }
        return lastNumber
    }

    /// Withdraws the question of a caller that has gone.
    mutating func withdraw(_ number: Int64) {
        take(number)
    }

    /// How long until the time of a question is over; nil if none is open.
    func remaining(at now: Moment) -> Duration? { open.values.map { $0.remaining(at: now) }.min() }

    /// Ends the questions whose time is over.
    mutating func advance(at now: Moment) {
        closeAll(.unanswered) { $0.remaining(at: now) == .zero }
    }

    private mutating func closeAll(_ outcome: ConfirmationOutcome, where isConcerned: (Open) -> Bool) {
        // The last first, so that none is shown just before its end.
        for (number, _) in open.filter({ isConcerned($1) }).sorted(by: { $0.key > $1.key }) { close(number, outcome) }
    }

    private mutating func close(_ number: Int64, _ outcome: ConfirmationOutcome) {
        take(number)?.tell(outcome)
    }

    /// Removes a question. If the user saw it, the next one that is alike is shown.
    @discardableResult private mutating func take(_ number: Int64) -> Open? {
        guard let question = open[number]?.question else { return nil }
        let wasShown = number == first(like: question)
        let taken = open.removeValue(forKey: number)
        guard wasShown else { return taken }
        for agent in agents.values { agent(.withdrawn(number)) }
        if let next = first(like: question) { show(next) }
        return taken
    }

    private func show(_ number: Int64) {
        guard let shown = open[number] else { return }
        for agent in agents.values { agent(.asked(number, shown.question, since: shown.since)) }
    }

    /// The number of the question that the user sees, of those that are alike; nil if there is none.
    private func first(like question: ConfirmationQuestion) -> Int64? {
        open.filter { $0.value.question == question }.keys.min()
    }
}
