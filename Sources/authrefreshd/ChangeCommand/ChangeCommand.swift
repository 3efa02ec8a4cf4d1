internal import AuthRefreshInterface
internal import RefreshCore

/// The configured command that runs after a change of an account.
struct ChangeCommand: Equatable, Sendable {
    /// An absolute path, and its arguments.
    var words: [String]
    /// The news that it runs for; nil for all except `refreshStarted`.
    var events: Set<AccountNews>?
    var timeLimit = Duration.seconds(30)

    /// The longest time limit that can be configured. A command should report a change, not do long work.
    static let commandTimeMax = Duration.seconds(600)
    static let timeLimits = Duration.seconds(1)...commandTimeMax
    /// The most bytes of all words together. It is far below systemd's limit, and real commands have some hundred.
    static let commandBytesMax = 16 << 10

    func isWanted(_ news: AccountNews) -> Bool {
        events?.contains(news) ?? (news != .refreshStarted)
    }

    /// The unit's name. Each account has one name, so the service manager runs only one command for it at a time, even
    /// if another daemon started it.
    static func unit(of account: AccountID) -> String {
        "\(prefix)\(account.rawValue)\(suffix)"
    }

    /// The account of a unit; nil for a unit of another kind.
    static func account(of unit: String) -> AccountID? {
        guard unit.hasPrefix(prefix), unit.hasSuffix(suffix) else { return nil }
        return Int64(unit.dropFirst(prefix.count).dropLast(suffix.count)).map(AccountID.init)
    }

    private static let prefix = "authrefresh-on-change-"
    private static let suffix = ".service"
}
