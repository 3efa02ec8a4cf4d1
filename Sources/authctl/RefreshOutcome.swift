internal import AuthRefreshInterface

extension DaemonConnection {
    /// Refreshes an account and waits; where it stands then.
    ///
    /// - Throws: `refused`, or `notFresh` if the daemon answers with a state in which the refresh has failed.
    mutating func refresh(_ account: String) throws(AuthctlError) -> AccountStatus {
        let parameters = WireText.encode(Refresh.Parameters(account: account))
        let answer = try ask(.refresh, json: parameters, patience: Self.refreshPatience) {
            guard StandardError.isTerminal else { return }
            StandardError.note("waiting for the authorization server of '\(account)', 40 s at most")
        }
        let status = try WireText.decode(Refresh.Reply.self, from: answer).status
        guard status.refreshExitStatus == .success else { throw .notFresh(status) }
        return status
    }

    /// Waits for the first refresh after a change that has been made already; where the account stands then.
    ///
    /// It asks for a token and looks at nothing but the outcome: asking for a refresh would cause a second one if the first is
    /// over already.
    ///
    /// - Parameter done: tells the change: `'work' was added`.
    /// - Throws: `keptButNotFresh`.
    mutating func settle(_ status: AccountStatus, done: String) throws(AuthctlError) -> AccountStatus {
        do throws(AuthctlError) {
            let parameters = WireText.encode(AcquireToken.Parameters(account: status.account))
            _ = try ask(.acquireToken, json: parameters, patience: Self.refreshPatience)
            return try allStatuses(accounts: [status.account]).first ?? status
        } catch {
            throw .keptButNotFresh(done: done, cause: error)
        }
    }
}

/// Tells how a refresh ended.
enum RefreshOutcome {
    /// `work: fresh until 14:02 (in 59 min)`.
    static func line(for status: AccountStatus) -> String {
        let sentence = StatusSentence(status: status, time: .now).description
        return PlainText.line("\(status.account): \(sentence)") + "\n"
    }

    static func report(on status: AccountStatus) -> Report {
        Report(
            status: status.refreshExitStatus,
            message: "'\(status.account)' is not fresh: \(StatusSentence(status: status, time: .now))",
            hints: [status.hint ?? "authctl status \(status.account)"]
        )
    }
}
