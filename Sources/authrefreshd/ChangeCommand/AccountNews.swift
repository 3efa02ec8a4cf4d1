internal import RefreshCore
internal import Systemd
internal import TextEncodings

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

extension ChangeCommand {
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
}
