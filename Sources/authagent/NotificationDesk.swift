internal import AuthRefreshInterface

/// Which accounts a person is told of, and how that changes. Decides, and does nothing else.
///
/// One notification for each account that needs its user. What was dismissed does not come back before the account has been well in
/// between, and only a few are on the screen at a time: the rest wait until there is room.
struct NotificationDesk {
    /// What is to be done, in this order.
    enum Effect: Equatable {
        /// `replaces`: the notification whose place it takes; 0: none.
        case show(account: String, NotificationText, replaces: UInt32)
        case withdraw(id: UInt32)
        /// `activationToken`: of the click; nil if the desktop has none.
        case signIn(account: String, activationToken: String?)
    }

    /// A screen holds some more, but nobody reads more at once; GNOME itself shows three.
    static let shownMax = 3

    private struct Entry {
        enum Stage: Equatable {
            /// To be shown, in the place of `replaces`.
            case waiting(replaces: UInt32)
            /// The server has not said its number: there is none, or it refuses. It is not asked again and again.
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
    private var effects: [Effect] = []
    /// Accounts of the present state that is being told; nil once it is whole.
    private var present: Set<String>?

    /// What has come up since the last call.
    mutating func takeEffects() -> [Effect] {
        showWaiting()
        defer { effects = [] }
        return effects
    }

    // MARK: What the daemon tells

    /// A subscription begins: what is not told until `ready` is no more.
    mutating func beginPresentState() {
        present = []
    }

    mutating func apply(_ change: Subscribe.Reply) {
        if let previous = change.previousName { forget(previous) }
        if change.accounts.isEmpty, let account = change.account { forget(account) }
        for status in change.accounts {
            present?.insert(status.account)
            apply(status)
        }
        guard change.event == "ready", let seen = present else { return }
        present = nil
        for account in entries.keys.sorted() where !seen.contains(account) { forget(account) }
    }

    private mutating func apply(_ status: AccountStatus) {
        guard let text = NotificationText(status) else { return forget(status.account) }
        guard var entry = entries[status.account] else {
            entries[status.account] = Entry(text: text, stage: .waiting(replaces: 0))
            return
        }
        // The same need told again, as by another failed attempt, is no news.
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

    private mutating func forget(_ account: String) {
        switch entries.removeValue(forKey: account)?.stage {
        case .shown(let id), .waiting(replaces: let id): if id != 0 { effects.append(.withdraw(id: id)) }
        case .asked, .dismissed, .signingIn, nil: break
        }
    }

    // MARK: What the notification server tells

    /// The server has given the account's notification a number.
    mutating func noteShown(_ account: String, id: UInt32) {
        entries[account]?.stage = .shown(id: id)
    }

    mutating func noteClosed(id: UInt32) {
        guard let account = account(of: id) else { return }
        entries[account]?.stage = .dismissed
    }

    /// The person wants to sign in.
    mutating func noteInvoked(id: UInt32, activationToken: String? = nil) {
        guard let account = account(of: id) else { return }
        entries[account]?.stage = .signingIn
        effects += [.withdraw(id: id), .signIn(account: account, activationToken: activationToken)]
    }

    /// Another server, or the same one anew: it knows none of ours.
    mutating func noteServerChanged() {
        for (account, entry) in entries {
            switch entry.stage {
            case .asked, .shown, .waiting: entries[account]?.stage = .waiting(replaces: 0)
            case .dismissed, .signingIn: break
            }
        }
    }

    /// The sign-in that was begun here has ended; the daemon tells if it went well.
    ///
    /// - Parameter problem: one sentence; nil: there is nothing to add to what the notification says.
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
