internal import RefreshCore
internal import Systemd

/// The commands that are run for changes: one at a time for each account, of which the newest change waits, and few at once in all.
struct ChangeCommands {
    private struct Run {
        let since: Moment
        /// After which it is taken to have ended, whatever the service manager tells.
        let patience: Duration
    }

    /// The user's service manager; nil until the first command, and after it was lost.
    var units: TransientUnits?
    private var running: [AccountID: Run] = [:]
    /// What was asked for last and may have to wait once more.
    private var started: [AccountID: AccountNews] = [:]
    private var waiting: [AccountID: AccountNews] = [:]
    /// The accounts of `waiting`, the next one first.
    private var turns: [AccountID] = []
    /// Whether the journal has been told what is wrong.
    private var isTold = false

    /// Has the command run for a change. An earlier one of the account that has not had its turn is forgotten.
    ///
    /// - Returns: false if too many accounts wait.
    mutating func add(_ news: AccountNews, of account: AccountID) -> Bool {
        guard waiting[account] == nil else {
            waiting[account] = news
            return true
        }
        guard waiting.count < CallerLimits.changesWaitingMax else { return false }
        waiting[account] = news
        turns.append(account)
        return true
    }

    /// What is to be started now; it counts as running from here on.
    mutating func next(_ command: ChangeCommand, at now: Moment) -> [TransientUnit] {
        forgetLost(at: now)
        var units: [TransientUnit] = []
        var left: [AccountID] = []
        for account in turns {
            guard running.count < CallerLimits.changeCommandsMax, running[account] == nil,
                let news = waiting.removeValue(forKey: account)
            else {
                left.append(account)
                continue
            }
            running[account] = Run(since: now, patience: command.timeLimit + Self.grace)
            started[account] = news
            units.append(command.unit(for: news, of: account))
        }
        turns = left
        return units
    }

    /// A unit is ended after its time limit, with five seconds between the two signals.
    private static let grace = Duration.seconds(30)

    private mutating func forgetLost(at now: Moment) {
        for (account, run) in running where now.elapsed(since: run.since) >= run.patience { ended(account) }
    }

    /// How long until a command is taken to have ended; nil if nothing waits for that.
    func remaining(at now: Moment) -> Duration? {
        guard !turns.isEmpty else { return nil }
        return running.values.map { max($0.patience - now.elapsed(since: $0.since), .zero) }.min()
    }

    mutating func ended(_ account: AccountID) {
        running[account] = nil
        started[account] = nil
    }

    /// Another daemon's command for the account has not ended: the change waits until it has, unless a newer one does.
    mutating func existed(_ account: AccountID) {
        guard let news = started.removeValue(forKey: account), waiting[account] == nil else { return }
        _ = add(news, of: account)
    }

    /// Nothing can be run, and nothing waits for better times: a change is of interest while it is new.
    mutating func giveUp() {
        (units, running, started, waiting, turns) = (nil, [:], [:], [:], [])
    }

    /// - Returns: whether the journal is to be told that something is wrong: once until a command has ended well.
    mutating func fails() -> Bool {
        defer { isTold = true }
        return !isTold
    }

    mutating func works() { isTold = false }
}
