internal import AuthRefreshInterface

/// One account's state in one line: `fresh until 14:02 (in 59 min)`.
struct StatusSentence: CustomStringConvertible {
    let status: AccountStatus
    let time: LocalTime

    var description: String {
        switch status.knownState {
        case .fresh: "fresh" + until
        case .refreshing: "refreshing" + (isValid ? "; valid" + until : "")
        case .retrying: "retrying\(next), \(isValid ? "valid" + until : "no valid token")" + because
        case .interactionRequired: "interaction-required: " + Wording.reason(status.reason) + serverWords
        case .refreshTokenExpiring:
            "fresh\(until); the refresh token ends"
                + (status.refreshTokenExpiresAtUSec.map { " " + time.both($0) } ?? " soon")
        case .signedOut: "signed-out"
        case .parked: "parked: exported to be moved, not refreshed here" + (isValid ? "; valid" + until : "")
        case .misconfigured: "misconfigured" + because
        case nil: PlainText.line(status.state) + until
        }
    }

    private var isValid: Bool { status.isValid(at: time.nowUSec) }

    private var until: String {
        if status.expiryBasis == "unlimited" { return " without an end" }
        guard let end = status.expiresAtUSec else { return "" }
        let why = status.expiryBasis.map { ", assumed: " + Wording.basis($0) } ?? ""
        return " until \(time.both(end))\(why)"
    }

    private var next: String { status.nextAttemptAtUSec.map { " \(time.relative($0))" } ?? "" }

    private var because: String {
        status.failure.map { ": " + PlainText.line(Wording.joined($0.summary, $0)) } ?? ""
    }

    private var serverWords: String { status.failure.flatMap(Wording.serverWords).map { " (\($0))" } ?? "" }
}
