internal import AuthRefreshInterface
internal import RefreshCore
internal import Systemd
internal import TextEncodings

/// A change in the form in which the command receives it.
struct ReportedChange: Equatable, Sendable {
    let news: AccountNews
    let account: String
    let state: String
    let issuer: String
    let previousName: String?
    let reason: String?
    /// µs since 1970.
    let expiresAtUSec: Int64?

    init(_ news: AccountNews, of snapshot: AccountSnapshot, previousName: String?) {
        self.news = news
        account = snapshot.account.name.text
        state = news == .accountRemoved ? "removed" : snapshot.shown.rawValue
        issuer = snapshot.account.issuer.url
        self.previousName = previousName
        reason = snapshot.state.interaction?.reason.rawValue
        expiresAtUSec = snapshot.state.accessToken?.expiresAt(at: snapshot.at).microseconds
    }

    /// It contains no token. Names that are also fields of the journal mean the same.
    var environment: [String: String] {
        var environment = [
            "AUTHREFRESH_EVENT": news.rawValue, "AUTHREFRESH_ACCOUNT": account, "AUTHREFRESH_STATE": state,
            "AUTHREFRESH_ISSUER": issuer,
        ]
        environment["AUTHREFRESH_PREVIOUS_NAME"] = previousName
        environment["AUTHREFRESH_REASON"] = reason
        environment["AUTHREFRESH_EXPIRES_AT_USEC"] = expiresAtUSec.map(String.init)
        return environment
    }
}

extension ChangeCommand {
    /// The systemd unit that runs the command for a change.
    func unit(for change: ReportedChange, of account: AccountID) -> TransientUnit {
        TransientUnit(
            name: Self.unit(of: account),
            description: "authrefreshd: \(change.news.rawValue) of \(change.account)",
            command: words,
            environment: change.environment,
            timeLimitUSec: UInt64(max(timeLimit.microseconds, 1))
        )
    }
}
