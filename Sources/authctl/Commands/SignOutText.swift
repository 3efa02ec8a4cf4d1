internal import AuthRefreshInterface
internal import Basics

/// The texts about one step of a sign-out.
extension SignOutStep {
    /// The line for people, with a newline; nil for a failure, and for the end of the session, which is shown in more
    /// detail.
    func line(of account: String) -> String? {
        let words =
            switch (step, outcome) {
            case (_, "failed"), ("end-session", _): String?.none
            case ("revoke", "done"): "the grant is revoked"
            case ("revoke", "unsupported"):
                "the server does not revoke grants; to end this one, use the server's own pages"
            case ("revoke", _): "there is no grant to revoke"
            case ("erase", "not-needed"): "was not signed in, there are no tokens"
            case ("erase", _): "signed out, the tokens are erased"
            case ("deregister", _): "the client is deregistered"
            case ("remove", _): "removed"
            // A newer daemon may have more steps.
            default: "\(PlainText.line(step)): \(PlainText.line(outcome))"
            }
        return words.map { "\(PlainText.line(account)): \($0)\n" }
    }

    /// Nil: it did not fail.
    func error(of account: String) -> Report? {
        guard outcome == "failed" else { return nil }
        let reason = failure.map { Wording.joined($0.summary, $0) } ?? "no reason is given"
        return Report(
            status: .tryAgainLater,
            name: "authctl.SignOutStepFailed",
            message: "'\(account)': \(failed): \(reason)",
            hints: [remedy(for: account)]
        )
    }

    /// What failed, in words.
    private var failed: String {
        switch step {
        case "revoke": "the grant was not revoked"
        case "end-session": "the session at the server was not ended"
        case "erase": "the tokens were not erased"
        case "deregister": "the client was not deregistered"
        case "remove": "the account was not removed"
        default: "'\(PlainText.line(step))' was not done"
        }
    }

    /// What helps.
    private func remedy(for account: String) -> Hint {
        switch step {
        case "revoke": "the tokens are erased here; revoke the grant on the authorization server's own pages"
        case "end-session": "sign out on the authorization server's own pages"
        case "erase": "\(Command("logout", account))"
        case "deregister": "ask the server's administrator to delete it: the account's registration token is gone"
        case "remove": "\(Command("account", "remove", account))"
        default: ""
        }
    }
}
