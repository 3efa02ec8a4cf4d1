internal import ArgumentParser
internal import AuthRefreshInterface
internal import Terminal
internal import TextEncodings

/// `authctl refresh`.
struct RefreshCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Refresh accounts now, and wait for the outcome.",
        discussion: """
            Prints a line for each account that is fresh now, as its outcome comes; the others are told on standard error. --all \
            leaves out the accounts that hold no grant, and those that are parked. On a terminal the only account need not be named.

            Exit status: that of the worst account.

            Examples:

              authctl refresh work
              authctl refresh work home --json
              authctl refresh --all
            """
    )

    @Argument(help: "The accounts to refresh.", completion: DaemonCompletion.accounts)
    var accounts: [String] = []

    @Flag(help: "Refresh all accounts that can be.")
    var all = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard !all || accounts.isEmpty else { throw ValidationError(.allOrSomeAccounts) }
    }

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        var worst = ExitStatus.success
        let accounts = try chosen(&daemon)
        if accounts.isEmpty { StandardError.note("no account has a grant to refresh with: authctl status") }
        for account in accounts {
            do throws(AuthctlError) {
                let status = try daemon.refresh(account)
                try output.printLine(Refresh.Reply(status: status), or: RefreshOutcome.line(for: status))
            } catch {
                guard error.isOutcome else { throw error }
                StandardError.tell(error)
                worst = .worst(worst, error.report.status)
            }
        }
        guard worst == .success else { throw .reported(worst) }
    }

    private func chosen(_ daemon: inout DaemonConnection) throws(AuthctlError) -> [String] {
        guard all else { return accounts.isEmpty ? [try OnlyAccount.resolve(nil, connection)] : accounts }
        let withoutGrant: Set = ["signed-out", "parked"]
        return try daemon.allStatuses(accounts: []).filter { !withoutGrant.contains($0.state) }.map(\.account)
    }
}

extension DaemonConnection {
    /// Refreshes an account and waits; where it stands then.
    ///
    /// - Throws: `refused`, or `notFresh` if the daemon answers with a state in which the refresh has failed.
    mutating func refresh(_ account: String) throws(AuthctlError) -> AccountStatus {
        let parameters = WireText.encode(Refresh.Parameters(account: account))
        let answer = try ask(
            .refresh,
            json: parameters,
            patience: Self.refreshPatience,
            waitingFor: .server(ofAccount: account)
        )
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
            _ = try ask(
                .acquireToken,
                json: parameters,
                patience: Self.refreshPatience,
                waitingFor: .server(ofAccount: status.account)
            )
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
