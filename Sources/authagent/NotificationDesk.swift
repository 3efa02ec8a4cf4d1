internal import AuthRefreshInterface

/// Decides which accounts a person is notified about, and does nothing else.
///
/// There is one notification for each account that needs its user, or soon will, and one for all accounts that are parked because the
/// store came from another machine. A dismissed one does not return until the account
/// was fine in between. Only a few are shown at a time; the rest wait for room.
struct NotificationDesk {
    /// What the caller has to do, in this order.
    enum Effect: Equatable {
        /// Show a notification. `replaces` is the one that it replaces; 0 for none.
        case show(account: String, NotificationText, replaces: UInt32)
        case withdraw(id: UInt32)
        /// Start a sign-in. `activationToken` belongs to the click; nil if the desktop has none.
        case signIn(account: String, activationToken: String?)
    }

    /// The most notifications on the screen. Nobody reads more at once, and GNOME shows three.
    static let shownMax = 3

    private struct Entry {
        enum Stage: Equatable {
            /// It has to be shown, and will replace `replaces`.
            case waiting(replaces: UInt32)
            /// The server was asked, and does not show it: there is no server, it refused, or the desktop removed the
            /// notification by itself. The server is not asked repeatedly.
            case asked
            case shown(id: UInt32)
            case dismissed
            case signingIn
        }

        var text: NotificationText
        var stage: Stage

        var isOnScreen: Bool {
            switch stage {
            case .shown: true
            case .waiting(let replaces): replaces != 0
            case .asked, .dismissed, .signingIn: false
            }
        }
    }

    private var entries: [String: Entry] = [:]
    /// The parked accounts that have one notification, under the name that no account has.
    private var parked: Set<String> = []
    private static let parkedName = ""
    private var effects: [Effect] = []
    /// The accounts of the initial state that is arriving; nil once it is complete.
    private var present: Set<String>?

    /// The effects since the last call.
    mutating func takeEffects() -> [Effect] {
        showWaiting()
        defer { effects = [] }
        return effects
    }

    // MARK: News from the daemon

    /// Begins a subscription. Accounts that are not sent before `ready` no longer need anybody.
    mutating func beginPresentState() {
        present = []
    }

    mutating func apply(_ change: Subscribe.Reply) {
        defer { showParked() }
        if let previous = change.previousName { forget(previous) }
        if change.accounts.isEmpty, let account = change.account { forget(account) }
        for status in change.accounts {
            present?.insert(status.account)
            apply(status, atUSec: change.atUSec)
        }
        guard change.isReady, let seen = present else { return }
        present = nil
        for account in entries.keys.sorted() where account != Self.parkedName && !seen.contains(account) {
            forget(account)
        }
        parked.formIntersection(seen)
        showParked()
    }

    private mutating func apply(_ status: AccountStatus, atUSec: Int64) {
        guard let text = NotificationText(status) ?? timedSignOut(status, atUSec: atUSec) else {
            forget(status.account)
            if status.state == "parked", status.reason == "otherMachine" { parked.insert(status.account) }
            return
        }
        parked.remove(status.account)
        guard var entry = entries[status.account] else {
            entries[status.account] = Entry(text: text, stage: .waiting(replaces: 0))
            return
        }
        // The same need again, for example after another failed attempt, is not news.
        guard entry.text.since != text.since || entry.text.body != text.body else { return }
        let isNew = entry.text.since != text.since
        entry.text = text
        switch entry.stage {
        case .shown(let id): entry.stage = .waiting(replaces: id)
        case .asked, .dismissed: if isNew { entry.stage = .waiting(replaces: 0) }
        case .waiting, .signingIn: break
        }
        entries[status.account] = entry
    }

    /// The text about an account that has just signed out at the time that was announced; nil if it has not.
    private func timedSignOut(_ status: AccountStatus, atUSec: Int64) -> NotificationText? {
        guard status.state == "signed-out", let told = entries[status.account]?.text, told.isQuiet,
            told.since <= atUSec
        else { return nil }
        return NotificationText(signedOutByItself: status.account, atUSec: told.since)
    }

    /// Shows the notification about parked accounts, or withdraws it when the last one is no longer parked.
    private mutating func showParked() {
        guard present == nil, parked.isEmpty != (entries[Self.parkedName] == nil) else { return }
        guard parked.isEmpty else {
            entries[Self.parkedName] = Entry(text: .parked, stage: .waiting(replaces: 0))
            return
        }
        forget(Self.parkedName)
    }

    private mutating func forget(_ account: String) {
        parked.remove(account)
        switch entries.removeValue(forKey: account)?.stage {
        case .shown(let id), .waiting(replaces: let id): if id != 0 { effects.append(.withdraw(id: id)) }
        case .asked, .dismissed, .signingIn, nil: break
        }
    }

    // MARK: News from the notification server

    /// Records the number that the server has given to the account's notification.
    mutating func noteShown(_ account: String, id: UInt32) {
        entries[account]?.stage = .shown(id: id)
    }

    /// Records that a notification is no longer on the screen. Only what a person dismissed stays away when the server
    /// restarts.
    mutating func noteClosed(id: UInt32, byPerson: Bool) {
        guard let account = account(of: id) else { return }
        entries[account]?.stage = byPerson ? .dismissed : .asked
    }

    /// Records that the person wants to sign in.
    mutating func noteInvoked(id: UInt32, activationToken: String? = nil) {
        guard let account = account(of: id) else { return }
        entries[account]?.stage = .signingIn
        effects += [.withdraw(id: id), .signIn(account: account, activationToken: activationToken)]
    }

    /// Records that there is another server, or that it restarted. It knows none of our notifications.
    mutating func noteServerChanged() {
        for (account, entry) in entries {
            switch entry.stage {
            case .asked, .shown, .waiting: entries[account]?.stage = .waiting(replaces: 0)
            case .dismissed, .signingIn: break
            }
        }
    }

    /// Records the end of a sign-in that was started here. If it succeeded, the daemon says so.
    ///
    /// - Parameter problem: one sentence; nil if there is nothing to add to the notification.
    mutating func noteSignInEnded(_ account: String, problem: String?) {
        guard var entry = entries[account], entry.stage == .signingIn else { return }
        if let problem { entry.text.problem = problem }
        entry.stage = .waiting(replaces: 0)
        entries[account] = entry
    }

    private func account(of id: UInt32) -> String? {
        entries.first { $0.value.stage == .shown(id: id) }?.key
    }

    // MARK: Steps

    private mutating func showWaiting() {
        var room = Self.shownMax - entries.values.count { $0.isOnScreen }
        for (account, entry) in entries.sorted(by: { $0.key < $1.key }) {
            guard case .waiting(let replaces) = entry.stage, replaces != 0 || room > 0 else { continue }
            if replaces == 0 { room -= 1 }
            effects.append(.show(account: account, entry.text, replaces: replaces))
            entries[account]?.stage = .asked
        }
    }
}
