internal import RefreshCore
internal import Systemd
internal import TextEncodings

/// The configured command that runs after a change of an account.
struct ChangeCommand: Equatable, Sendable {
    /// An absolute path, and its arguments.
    var words: [String]
    /// The events that it runs for; nil for all except `refresh-started`.
    var events: Set<String>?
    var timeLimit = Duration.seconds(30)

    static let timeLimits = Duration.seconds(1) ... .seconds(600)
    /// The most bytes of all words together. It is far below systemd's limit, and real commands have some hundred.
    static let longest = 16 << 10

    func isWanted(_ event: String) -> Bool {
        events?.contains(event) ?? (event != "refresh-started")
    }

    /// The systemd unit that runs the command for a change. It contains no token.
    func unit(for change: AccountNews, of account: AccountID) -> TransientUnit {
        TransientUnit(
            name: Self.unit(of: account),
            description: "authrefreshd: \(change.event) of \(change.account)",
            command: words,
            environment: change.environment,
            timeLimitUSec: UInt64(max(timeLimit.microseconds, 1))
        )
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

/// A change in the form in which the command receives it.
struct AccountNews: Equatable, Sendable {
    var event: String
    var account: String
    var state: String
    var issuer: String
    var previousName: String?
    var reason: String?
    /// µs since 1970.
    var expiresAtUSec: Int64?

    /// Returns nil if the event is only for the journal.
    init?(_ announcement: Announcement, of snapshot: AccountSnapshot) {
        guard let event = announcement.wireName else { return nil }
        self.event = event
        account = snapshot.account.name.text
        state = announcement.isRemoval ? "removed" : snapshot.shown.rawValue
        issuer = snapshot.account.issuer.url
        previousName = announcement.previousName
        reason = snapshot.state.interaction?.reason.rawValue
        expiresAtUSec = snapshot.state.accessToken?.expiresAt(at: snapshot.at).microseconds
    }

    var environment: [String: String] {
        var environment = [
            "AUTHREFRESH_EVENT": event, "AUTHREFRESH_ACCOUNT": account, "AUTHREFRESH_STATE": state,
            "AUTHREFRESH_ISSUER": issuer,
        ]
        environment["AUTHREFRESH_PREVIOUS_NAME"] = previousName
        environment["AUTHREFRESH_REASON"] = reason
        environment["AUTHREFRESH_EXPIRES_AT_USEC"] = expiresAtUSec.map(String.init)
        return environment
    }
}
