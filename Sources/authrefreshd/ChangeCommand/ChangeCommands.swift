internal import RefreshCore
internal import Systemd

/// The runs of the configured command: one at a time for each account, with only the newest change waiting, and a few
/// at once in total.
struct ChangeCommands {
    private struct Run {
        let since: Moment
        /// After this time a command counts as ended, whatever the service manager says.
        let patience: Duration
        /// The change, which may have to wait again.
        var change: [String: String]?
    }

    /// The connection to the user's service manager; nil before the first command, and after the connection was lost.
    var units: TransientUnits?
    private var running: [AccountID: Run] = [:]
    /// The changes that wait, as the command's environment.
    private var waiting: [AccountID: [String: String]] = [:]
    /// The accounts in `waiting`; the next one is first.
    private var turns: [AccountID] = []
    /// Whether the journal already has the problem.
    private var isTold = false

    /// Requests a run for a change. An earlier change of the account that still waits is dropped.
    ///
    /// - Returns: false if too many accounts wait.
    mutating func add(_ change: [String: String], of account: AccountID) -> Bool {
        guard waiting[account] == nil else {
            waiting[account] = change
            return true
        }
        guard waiting.count < CallerLimits.changesWaitingMax else { return false }
        waiting[account] = change
        turns.append(account)
        return true
    }

    /// The runs to start now. They count as running from now on.
    mutating func next(_ command: ChangeCommand, at now: Moment) -> [TransientUnit] {
        forgetLost(at: now)
        var units: [TransientUnit] = []
        var left: [AccountID] = []
        for account in turns {
            guard running.count < CallerLimits.changeCommandsMax, running[account] == nil,
                let change = waiting.removeValue(forKey: account)
            else {
                left.append(account)
                continue
            }
            running[account] = Run(since: now, patience: command.timeLimit + Self.grace, change: change)
            units.append(command.unit(for: change, of: account))
        }
        turns = left
        return units
    }

    /// systemd stops a unit after its time limit, with five seconds between the two signals.
    private static let grace = Duration.seconds(30)

    private mutating func forgetLost(at now: Moment) {
        for (account, run) in running where now.elapsed(since: run.since) >= run.patience { ended(account) }
    }

    /// How long until a command counts as ended; nil if nothing depends on that.
    func remaining(at now: Moment) -> Duration? {
        guard !turns.isEmpty else { return nil }
        return running.values.map { max($0.patience - now.elapsed(since: $0.since), .zero) }.min()
    }

    mutating func ended(_ account: AccountID) {
        running[account] = nil
    }

    /// Another daemon's command for the account is still running. The change waits for its end, unless a newer change
    /// replaces it.
    mutating func existed(_ account: AccountID) {
        guard let change = running[account]?.change, waiting[account] == nil else { return }
        running[account]?.change = nil
        _ = add(change, of: account)
    }

    /// Drops all changes, because nothing can be run. A change is only of interest while it is new.
    mutating func giveUp() {
        (units, running, waiting, turns) = (nil, [:], [:], [])
    }

    /// Records a failure.
    ///
    /// - Returns: whether to write it to the journal: once, until a command has succeeded.
    mutating func noteFailure() -> Bool {
        defer { isTold = true }
        return !isTold
    }

    mutating func noteSuccess() { isTold = false }
}
