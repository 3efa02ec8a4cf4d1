internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl refresh`.
struct RefreshCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Refresh accounts now, and wait for the outcome.",
        discussion: """
            Prints a line for each account that is fresh now, as its outcome comes; the others are told on standard error.

            Exit status: that of the worst account.

            Examples:

              authctl refresh work
              authctl refresh work home --json
            """
    )

    @Argument(help: "The accounts to refresh.", completion: DaemonCompletion.accounts)
    var accounts: [String]

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        var worst = ExitStatus.success
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
}
