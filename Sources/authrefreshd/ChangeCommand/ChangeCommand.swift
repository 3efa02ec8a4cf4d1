internal import RefreshCore

/// The command that the configuration has run when an account has changed.
struct ChangeCommand: Equatable, Sendable {
    /// An absolute path, and its arguments.
    var words: [String]
    /// The events that it is run for; nil: all but `refresh-started`.
    var events: Set<String>?
    var timeLimit = Duration.seconds(30)

    /// The events that it can be run for: all names that `Announcement.wireName` gives.
    static let allEvents: Set<String> = [
        "account-added", "account-updated", "account-renamed", "account-removed", "refresh-started", "sign-in-started",
        "sign-in-failed", "interaction-required", "client-secret-ending", "grant-imported", "signed-in",
        "account-parked",
        "account-resumed", "token-refreshed", "token-set-refreshed", "token-set-failed", "refresh-failed",
        "misconfigured",
        "refresh-token-expiring", "signed-out",
    ]

    static let timeLimits = Duration.seconds(1) ... .seconds(600)
    /// Bytes of all words together: some hundred, and far below what systemd takes.
    static let longest = 16 << 10

    func isWanted(_ event: String) -> Bool {
        events?.contains(event) ?? (event != "refresh-started")
    }

    /// One name for each account, so that the service manager runs one at a time, whichever daemon has started it.
    static func unit(of account: AccountID) -> String {
        "\(prefix)\(account.rawValue)\(suffix)"
    }

    /// Nil for a unit of another kind.
    static func account(of unit: String) -> AccountID? {
        guard unit.hasPrefix(prefix), unit.hasSuffix(suffix) else { return nil }
        return Int64(unit.dropFirst(prefix.count).dropLast(suffix.count)).map(AccountID.init)
    }

    private static let prefix = "authrefresh-on-change-"
    private static let suffix = ".service"
}
