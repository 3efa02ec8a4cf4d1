internal import ArgumentParser
internal import AuthRefreshInterface
internal import CommandLineProgram
internal import Terminal

/// `authctl logout`.
struct LogoutCommand: ParsableCommand {
    /// The time limit in seconds. It is twice the daemon's limit for a request, because the grant is revoked and the
    /// server's metadata may be needed.
    private static let patience: Int32 = 120

    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Erase an account's tokens; its settings stay.",
        discussion: """
            What is asked for is done in this order, and each step is told: --revoke has the server end the grant (RFC 7009), \
            --end-session opens the server's own page that ends your session there, the tokens are erased here, and --forget \
            removes the account. A step that fails keeps none of the others from being done; the exit status is 75 then.

            --all signs every account out, and asks before it does; where nobody can be asked, it takes --yes.

            Examples:

              authctl logout work
              authctl logout work --revoke --end-session
              authctl logout work --revoke --forget
              authctl logout --all --revoke --yes
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

    @Flag(help: "Open nothing; show the address.")
    var noOpen = false

    @Flag(help: "Sign out of all accounts.")
    var all = false

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard all != (account != nil) else { throw ValidationError(.allOrOneAccount) }
        guard !yes || all else { throw ValidationError(.yesNeedsAll) }
        guard !noOpen || endSession else { throw ValidationError(.noOpenNeedsEndSession) }
    }

    func run() throws(AuthctlError) {
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
            do throws(AuthctlError) {
                let parameters = SignOut.Parameters(
                    account: account,
                    revoke: revoke ? true : nil,
                    endSession: endSession ? true : nil,
                    forget: forget ? true : nil
                )
                let reply = try daemon.ask(
                    .signOut,
                    parameters,
                    for: SignOut.Reply.self,
                    patience: Self.patience,
                    waitingFor: DaemonConnection.server(of: account)
                )
                answer.accounts.append(try tell(reply, of: account, &worst))
            } catch {
                guard all, error.isOutcome else { throw error }
                StandardError.tell(error)
                worst = .worst(worst, error.report.status)
            }
        }
        if output.json { try output.print(answer, or: "") }
        guard worst == .success else { throw .reported(worst) }
    }

    /// Asks for confirmation.
    ///
    /// - Throws: `cancelled` if the person says no; `usage` if nobody can be asked.
    private func confirmed(_ accounts: [String]) throws(AuthctlError) -> [String] {
        guard !accounts.isEmpty, !yes else { return accounts }
        guard Question.canBeAsked else {
            throw .usage(.nobodyToAsk)
        }
        let names = accounts.prefix(10).map(PlainText.line).joined(separator: ", ") + (accounts.count > 10 ? ", …" : "")
        let noun = accounts.count == 1 ? "account" : "accounts"
        guard try Question.confirm("Sign out of \(accounts.count) \(noun) (\(names))?") else { throw .cancelled }
        return accounts
    }

    private func tell(
        _ reply: SignOut.Reply,
        of account: String,
        _ worst: inout ExitStatus
    ) throws(AuthctlError) -> LogoutAnswer.Account {
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
                worst = .worst(worst, error.report.status)
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
    ) throws(AuthctlError) -> String? {
        guard let link = reply.endSessionUrl.flatMap(WebLink.init) else { throw .connection(.unreadableReply) }
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
        StandardError.show("\(name): opening \(link.host) in \(browser.name), where the session ends\n")
        return SessionEnd(link: link).open(in: browser)
    }

    private static func failedStep(_ step: SignOutStep, _ reason: String) -> SignOutStep {
        SignOutStep(step: step.step, outcome: "failed", failure: FailureReport(summary: reason))
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

    /// The error; nil if the step did not fail.
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
        case "revoke": "the tokens are erased here; end the grant on the authorization server's own pages"
        case "end-session": "sign out on the authorization server's own pages"
        case "erase": "authctl logout \(account)"
        case "deregister": "the server's administrator can delete it; its registration token is gone with the account"
        case "remove": "authctl account remove \(account)"
        default: ""
        }
    }
}
