internal import RefreshCore
internal import Systemd
internal import TextEncodings

/// The command that the configuration has run when an account has changed.
struct ChangeCommand: Equatable, Sendable {
    /// An absolute path, and its arguments.
    var words: [String]
    /// The events that it is run for; nil: all but `refresh-started`.
    var events: Set<String>?
    var timeLimit = Duration.seconds(30)

    /// How long a command may be let run: it is to tell of a change, not to work on it.
    static let commandTimeMax = Duration.seconds(600)
    static let timeLimits = Duration.seconds(1)...commandTimeMax
    /// Bytes of all words together: some hundred, and far below what systemd takes.
    static let commandBytesMax = 16 << 10

    func isWanted(_ event: String) -> Bool {
        events?.contains(event) ?? (event != "refresh-started")
    }

    /// What systemd is to run for a change; no token is in it.
    func unit(for change: AccountNews, of account: AccountID) -> TransientUnit {
        TransientUnit(
            name: Self.unit(of: account),
            description: "authrefreshd: \(change.event) of \(change.account)",
            command: words,
            environment: change.environment,
            timeLimitUSec: UInt64(max(timeLimit.microseconds, 1))
        )
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

/// A change as the command is told of it.
struct AccountNews: Equatable, Sendable {
    var event: String
    var account: String
    var state: String
    var issuer: String
    var previousName: String?
    var reason: String?
    /// µs since 1970.
    var expiresAtUSec: Int64?

    /// Nil if only the journal is told of it.
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
