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
        var answers: [Answer] = []
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
                answers.append(try tell(reply, of: account, &worst))
            } catch {
                guard all, error.isOutcome else { throw error }
                StandardError.tell(error)
                worst = .worst(worst, error.status)
            }
        }
        if output.json { try output.print(["accounts": answers], or: "") }
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

    /// Reports the steps of a sign-out, and does those that are for this program.
    ///
    /// - Returns: the account's part of the answer in JSON.
    private func tell(
        _ reply: SignOut.Reply,
        of account: String,
        _ worst: inout ExitStatus
    ) throws(Report) -> Answer {
        var steps = reply.steps
        var (host, shown): (String?, WebLink?) = (nil, nil)
        for (index, step) in reply.steps.enumerated() {
            if step.step == "end-session", step.outcome == "done" {
                guard let link = reply.endSessionUrl.flatMap(WebLink.init) else { throw .unreadableReply }
                host = reply.endSessionHost
                if let browser = noOpen || SignInPlace(.real) != .desktop ? nil : Browser.usual(in: .real) {
                    StandardError.show(
                        "\(PlainText.line(account)): opening \(link.host) in \(browser.name), to end the session\n"
                    )
                    if let reason = browser.show(link) {
                        steps[index].outcome = "failed"
                        steps[index].failure = FailureReport(summary: reason)
                    }
                } else {
                    shown = link
                    showAddress(link, of: account)
                }
            }
            if let line = steps[index].line(of: account), !output.json { try StandardOutput.show(line) }
            if let error = steps[index].error(of: account) {
                StandardError.tell(error)
                worst = .worst(worst, error.status)
            }
        }
        return ["account": account, "steps": steps, "endSessionHost": host, "endSessionUrl": shown?.text]
    }

    /// Asks the person to open the page that ends the session.
    private func showAddress(_ link: WebLink, of account: String) {
        let why = SignInPlace(.real).reason.map { " (\($0))" } ?? ""
        StandardError.show(
            "\(PlainText.line(account)): to end the session at \(link.host), open this address\(why)\n\n  \(link.text)\n"
        )
    }
}
