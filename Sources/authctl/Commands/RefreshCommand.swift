internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl refresh`.
struct RefreshCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Refresh accounts now, and wait for the outcome.",
        discussion: """
            Examples:

              \(InvokedAs.here) refresh work
              \(InvokedAs.here) refresh work home --json
              \(InvokedAs.here) refresh --all

            Prints a line for each account that was refreshed; failures go to standard error. --all skips accounts \
            that are signed out or parked. On a terminal you can leave out the account if there is only one.

            Exit status: that of the worst account.
            """
    )

    @Argument(help: "The accounts to refresh.", completion: DaemonCompletion.accounts)
    var accounts: [String] = []

    @Flag(help: "Refresh all accounts, except those that are signed out or parked.")
    var all = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard !all || accounts.isEmpty else { throw ValidationError("name accounts, or use '--all'") }
    }

    func run() throws(Report) {
        var daemon = try connection.connect()
        var worst = ExitStatus.success
        let accounts = try chosen(&daemon)
        if accounts.isEmpty {
            StandardError.note("no account has a grant to refresh with: \(Command("status"))")
        }
        for account in accounts {
            do throws(Report) {
                let status = try daemon.refresh(account)
                try output.printLine(Refresh.Reply(status: status), or: StatusSentence.line(for: status))
            } catch {
                guard error.isOutcome else { throw error }
                StandardError.tell(error)
                worst = .worst(worst, error.status)
            }
        }
        guard worst == .success else { throw .reported(worst) }
    }

    private func chosen(_ daemon: inout DaemonConnection) throws(Report) -> [String] {
        guard all else { return accounts.isEmpty ? [try connection.account(named: nil)] : accounts }
        let withoutGrant: Set = ["signed-out", "parked"]
        return try daemon.allStatuses(accounts: []).filter { !withoutGrant.contains($0.state) }.map(\.account)
    }
}

extension DaemonConnection {
    /// Refreshes an account and waits; returns its state.
    ///
    /// - Throws: the daemon's error, or `notFresh` if its answer shows that the refresh failed.
    mutating func refresh(_ account: String) throws(Report) -> AccountStatus {
        let status = try ask(Refresh.Parameters(account: account), refreshing: account).status
        guard status.refreshExitStatus == .success else { throw .notFresh(status) }
        return status
    }

    /// Waits for the first refresh after a change that was already made; returns the account's state.
    ///
    /// It requests a token and uses only the result. Requesting a refresh would cause a second one if the first is
    /// already over.
    ///
    /// - Parameter done: describes the change: `'work' was added`.
    /// - Throws: why there is no token, behind what was done in spite of it.
    mutating func settle(_ status: AccountStatus, done: String) throws(Report) -> AccountStatus {
        do throws(Report) {
            _ = try ask(AcquireToken.Parameters(account: status.account), refreshing: status.account)
            return try allStatuses(accounts: [status.account]).first ?? status
        } catch {
            throw error.following(done)
        }
    }
}
