internal import AuthRefreshInterface
internal import Glibc

/// The states of accounts, updated by the daemon's changes. The daemon is never asked again for something that it has
/// reported.
struct StatusFeed: ~Copyable {
    private let connection: ConnectionOptions
    private var changes: FollowedChanges
    /// The connection for asking about the daemon itself, because the other one is busy with the stream of changes; nil
    /// if nothing was asked.
    private var question: DaemonConnection?
    private var states = AccountStates()
    /// Whether the daemon has gone. Its last changes are shown first.
    private var hasEnded = false
    /// The accounts, ordered by the bytes of their names like the daemon's lists. While a restarted daemon does not
    /// answer yet, these are the previous daemon's.
    private(set) var accounts: [AccountStatus] = []
    /// The daemon's own state at the last change.
    private(set) var info: GetInfo.Reply?

    /// Subscribes, and waits for the initial state.
    ///
    /// - Parameter names: the accounts to follow; empty for all.
    static func open(names: [String], connection: ConnectionOptions) throws(Report) -> StatusFeed {
        // Not an initializer, because Swift cannot abandon a noncopyable type in the middle of one.
        var feed = StatusFeed(connection, try FollowedChanges.open(names: names, connection: connection))
        while !feed.states.isComplete {
            switch try feed.changes.take() {
            case .change(let change): feed.states.apply(change)
            case .nothing, .daemonEnded: feed.changes.wait()
            }
        }
        feed.accounts = feed.states.sorted
        var daemon = try connection.connect()
        feed.info = try daemon.ask(GetInfo.Parameters())
        return feed
    }

    private init(_ connection: ConnectionOptions, _ changes: consuming FollowedChanges) {
        self.connection = connection
        self.changes = changes
    }

    /// Whether the daemon has sent the initial state. A restarted daemon may need some time.
    var isAnswered: Bool { states.isComplete }

    /// Whether the daemon has ended, and the next one has been looked for longer than a restart usually takes.
    var isDaemonMissed: Bool { changes.isMissed }

    /// After how many milliseconds `takeChanges` has to be called, though nothing is readable; -1 for never.
    var pauseMilliseconds: Int32 { changes.pauseMilliseconds }

    /// The descriptors to watch. One of them becomes readable when there is a change.
    var pollDescriptors: [Int32] {
        changes.pollDescriptors + (questionDescriptor.map { [$0] } ?? [])
    }

    private var questionDescriptor: Int32? {
        switch question {
        case .some(let question): question.pollDescriptor
        case nil: nil
        }
    }

    /// Waits for a change, and reads all changes and the daemon's own state.
    ///
    /// It ends the process if nobody reads its output any more.
    mutating func waitForChange() throws(Report) {
        while try !takeChanges() || !isAnswered { changes.wait() }
        while let descriptor = questionDescriptor, try !takeInfo() { StandardOutput.wait(forInputOn: [descriptor]) }
    }

    /// Reads the changes that have arrived, without waiting, because a silent daemon must not block the user's keys.
    ///
    /// - Returns: whether something has to be redrawn.
    @discardableResult mutating func takeChanges() throws(Report) -> Bool {
        var (hasChanged, hasBegunAgain) = (false, hasEnded)
        if hasEnded { beginAgain() }
        reading: while true {
            switch try changes.take() {
            case .change(let change):
                states.apply(change)
                hasChanged = true
            case .nothing: break reading
            case .daemonEnded where hasChanged && isAnswered:
                hasEnded = true
                break reading
            case .daemonEnded:
                beginAgain()
                (hasChanged, hasBegunAgain) = (false, true)
            }
        }
        guard isAnswered else { return hasBegunAgain }
        if hasChanged {
            accounts = states.sorted
            try askForInfo()
        }
        return try takeInfo() || hasChanged
    }

    /// Forgets what the daemon that has ended told, for the present state of the next one.
    private mutating func beginAgain() {
        question = nil
        hasEnded = false
        states = AccountStates()
    }

    /// Asks about the daemon itself. If the daemon has just ended, the subscription notices that.
    private mutating func askForInfo() throws(Report) {
        // An answer to an older question would be older than the change.
        question = nil
        do throws(Report) {
            var question = try connection.connect()
            try question.begin(GetInfo.Parameters())
            self.question = consume question
        } catch {
            switch error.cause {
            case .unreachable, .ended: return
            case .refused, .notFresh, .other: throw error
            }
        }
    }

    /// Reads the answer about the daemon itself; returns whether there was one.
    private mutating func takeInfo() throws(Report) -> Bool {
        do throws(Report) {
            guard let (reply, _) = try question?.availableReply(GetInfo.Reply.self) else { return false }
            info = reply
        } catch  where error.cause == .ended {
            // The daemon has gone. The subscription notices that as well.
        }
        question = nil
        return true
    }
}

/// The sum of all changes so far.
struct AccountStates {
    private var byName: [String: AccountStatus] = [:]
    /// Whether the initial state is complete.
    private(set) var isComplete = false

    var sorted: [AccountStatus] {
        byName.values.sorted { $0.account.utf8.lexicographicallyPrecedes($1.account.utf8) }
    }

    mutating func apply(_ change: Subscribe.Reply) {
        if change.isReady { isComplete = true }
        if let previous = change.previousName { byName[previous] = nil }
        // A change without a state means that the account was removed.
        if change.accounts.isEmpty, let account = change.account { byName[account] = nil }
        for status in change.accounts { byName[status.account] = status }
    }
}
