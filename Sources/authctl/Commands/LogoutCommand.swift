internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl logout`.
struct LogoutCommand: ParsableCommand {
    /// The time limit in seconds. The daemon waits up to 40 s for a refresh that is under way, and may then send two
    /// revocations, each for up to 30 s.
    private static let patience: Int32 = 120

    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out: erase an account's tokens, and keep its settings.",
        discussion: """
            Examples:

              \(InvokedAs.here) logout work
              \(InvokedAs.here) logout work --revoke --end-session
              \(InvokedAs.here) logout work --revoke --forget
              \(InvokedAs.here) logout --all --revoke --yes

            The steps have this order, and authctl reports each of them: --revoke asks the server to revoke the \
            grant (RFC 7009), --end-session opens the server's page that ends your session there, the tokens are \
            erased here, and --forget removes the account. If a step fails, the others are still done, and the \
            exit status is 75.

            Another machine may use the grant of a parked account. --revoke would end it there, too, and --forget \
            would delete a registered client. So they need --yes.

            --all signs out of all accounts, and asks before it does. Without a terminal it needs --yes.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String?

    @Flag(help: "Revoke the grant at the authorization server.")
    var revoke = false

    @Flag(help: "End your session at the authorization server too, in the browser.")
    var endSession = false

    @Flag(help: "Remove the account afterwards.")
    var forget = false

    @Flag(help: "Do not open a browser; show the address.")
    var noOpen = false

    @Flag(help: "Sign out of all accounts.")
    var all = false

    @Flag(help: "Do not ask, and end the grants of parked accounts, too.")
    var yes = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard all != (account != nil) else { throw ValidationError("name an account, or use '--all'") }
        guard !yes || all || revoke || forget else {
            throw ValidationError("'--yes' needs '--all', '--revoke' or '--forget'")
        }
        guard !noOpen || endSession else { throw ValidationError("'--no-open' needs '--end-session'") }
    }

    func run() throws(Report) {
        var daemon = try connection.connect()
        var accounts: [String] = []
        if let account {
            accounts = [account]
        } else {
            accounts = try confirmed(daemon.allStatuses(accounts: []).map(\.account))
        }
        var answer = LogoutAnswer(accounts: [])
        var worst = ExitStatus.success
        for account in accounts {
            do throws(Report) {
                let parameters = SignOut.Parameters(
                    account: account,
                    revoke: revoke ? true : nil,
                    revokeParked: (revoke || forget) && yes ? true : nil,
                    endSession: endSession ? true : nil,
                    forget: forget ? true : nil
                )
                let reply = try daemon.ask(
                    parameters,
                    patience: Self.patience,
                    waitingFor: DaemonConnection.server(of: account)
                )
                answer.accounts.append(try tell(reply, of: account, &worst))
            } catch {
                guard all, error.isOutcome else { throw error }
                StandardError.tell(error)
                worst = .worst(worst, error.status)
            }
        }
        if output.json { try output.print(answer, or: "") }
        guard worst == .success else { throw .reported(worst) }
    }

    /// Asks for confirmation.
    ///
    /// - Throws: `cancelled` if the person says no; `usage` if nobody can be asked.
    private func confirmed(_ accounts: [String]) throws(Report) -> [String] {
        guard !accounts.isEmpty, !yes else { return accounts }
        guard Question.canBeAsked else {
            throw .usage("'--all' asks for confirmation, and there is no terminal to ask on", hint: "add --yes")
        }
        let names = accounts.prefix(10).map(PlainText.line).joined(separator: ", ") + (accounts.count > 10 ? ", …" : "")
        let question = "Sign out of \(StatusView.accounts(accounts.count)) (\(names))?"
        guard try Question.confirm(question) else { throw .cancelled }
        return accounts
    }

    private func tell(
        _ reply: SignOut.Reply,
        of account: String,
        _ worst: inout ExitStatus
    ) throws(Report) -> LogoutAnswer.Account {
        var told = LogoutAnswer.Account(account: account, steps: reply.steps)
        for (index, step) in reply.steps.enumerated() {
            var text = SignOutText(account: account, step: step)
            if step.step == "end-session", step.outcome == "done" {
                told.endSessionHost = reply.endSessionHost
                let reason = try endSession(reply, of: account, &told)
                told.steps[index] = reason.map { Self.failedStep(step, $0) } ?? step
                text = SignOutText(account: account, step: told.steps[index])
            }
            if let line = text.line, !output.json { try StandardOutput.show(line) }
            if let error = text.error {
                StandardError.tell(error)
                worst = .worst(worst, error.status)
            }
        }
        return told
    }

    /// Opens the page that ends the session, or shows its address.
    ///
    /// - Returns: why the browser could not be opened; nil if it was, or if the person has to open it.
    private func endSession(
        _ reply: SignOut.Reply,
        of account: String,
        _ told: inout LogoutAnswer.Account
    ) throws(Report) -> String? {
        guard let link = reply.endSessionUrl.flatMap(WebLink.init) else { throw .unreadableReply }
        let place = SignInPlace(.real)
        let browser = noOpen || place != .desktop ? nil : Browser.usual(in: .real)
        let name = PlainText.line(account)
        guard let browser else {
            told.endSessionUrl = link.text
            let why = place.reason.map { " (\($0))" } ?? ""
            StandardError.show(
                "\(name): to end the session at \(link.host), open this address\(why)\n\n  \(link.text)\n"
            )
            return nil
        }
        StandardError.show("\(name): opening \(link.host) in \(browser.name), to end the session\n")
        return SessionEnd(link: link).open(in: browser)
    }

    private static func failedStep(_ step: SignOutStep, _ reason: String) -> SignOutStep {
        SignOutStep(step: step.step, outcome: "failed", failure: FailureReport(summary: reason))
    }
}
