internal import AuthRefreshInterface
internal import CommandLineProgram
internal import Terminal
internal import TextEncodings

/// Describes how a refresh ended.
enum RefreshOutcome {
    /// `work: fresh until 14:02 (in 59 min)`.
    static func line(for status: AccountStatus) -> String {
        let sentence = StatusSentence(status: status, time: .now).description
        let line = PlainText.line("\(status.account): \(sentence)")
        return WrappedText.message(line, width: TerminalStyle.standardOutput.width, indent: 2)
            .joined(separator: "\n") + "\n"
    }

    /// What is said where the refresh that was waited for brought no new token.
    static func report(on status: AccountStatus) -> Report {
        let sentence = StatusSentence(status: status, time: .now)
        return Report(
            status: status.refreshExitStatus,
            message: "'\(status.account)' \(sentence.failure)",
            hints: [status.hint ?? "authctl status \(status.account)"]
        )
    }
}

/// The text about one step of a sign-out.
struct SignOutText {
    let account: String
    let step: SignOutStep

    /// The line for people, with a newline; nil for a failure, and for the end of the session, which is shown in more
    /// detail.
    var line: String? {
        let words =
            switch (step.step, step.outcome) {
            case (_, "failed"), ("end-session", _): String?.none
            case ("revoke", "done"): "the grant is revoked"
            case ("revoke", _): "there is no grant to revoke"
            case ("erase", "not-needed"): "was not signed in, there are no tokens"
            case ("erase", _): "signed out, the tokens are erased"
            case ("deregister", _): "the client is deregistered"
            case ("remove", _): "removed"
            // A newer daemon may have more steps.
            default: "\(PlainText.line(step.step)): \(PlainText.line(step.outcome))"
            }
        return words.map { "\(PlainText.line(account)): \($0)\n" }
    }

    /// Nil: it did not fail.
    var error: AuthctlError? {
        guard step.outcome == "failed" else { return nil }
        let reason = step.failure.map { Wording.joined($0.summary, $0) } ?? "no reason is given"
        return .signOutFailed(account: account, step: step.step, reason: reason)
    }

    /// What failed, in words.
    static func failure(of step: String) -> String {
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
    static func hint(for step: String, of account: String) -> String {
        switch step {
        case "revoke": "the tokens are erased here; revoke the grant on the authorization server's own pages"
        case "end-session": "sign out on the authorization server's own pages"
        case "erase": "authctl logout \(account)"
        case "deregister": "ask the server's administrator to delete it: the account's registration token is gone"
        case "remove": "authctl account remove \(account)"
        default: ""
        }
    }
}

/// What became of an account: a line with its newline, or words before ", but …".
enum AccountText {
    static func added(_ account: String) -> String { "'\(account)' was added" }

    static func imported(_ account: String) -> String { "'\(account)' was imported" }

    static func grantImported(_ account: String) -> String { "the grant of '\(account)' was imported" }

    static func changedOnly(_ account: String) -> String { "\(account): changed; the export contains no grant\n" }

    static func renamed(_ account: String, to name: String) -> String { "\(name): renamed from \(account)\n" }

    static func removed(_ account: String) -> String { "\(account): removed\n" }
}

/// What became of the store: a line with its newline.
enum StoreText {
    static func saved(_ file: String, bytes: Int) -> String { "\(file): \(bytes) bytes\n" }

    static func checked(_ reply: CheckStore.Reply) -> String {
        let verdict =
            switch reply.found {
            case 0: "the store is sound"
            case 1: "1 finding"
            default: "\(reply.found) findings"
            }
        return "\(StatusWords.accounts(reply.accounts)) checked: \(verdict)\n"
    }

    static func rekeyed(accounts: Int64, key: String, place: String) -> String {
        "\(StatusWords.accounts(accounts)) encrypted with the new key \(PlainText.line(key)),"
            + " kept in \(words(for: place))\n"
    }

    private static func words(for place: String) -> String {
        switch place {
        case "credential": "the systemd credential 'store-key'"
        case "next-credential": "the systemd credential 'store-key.next'"
        case "secret-service": "the Secret Service"
        case "file": "the key file"
        // A newer daemon may know more places.
        default: PlainText.line(place)
        }
    }
}
