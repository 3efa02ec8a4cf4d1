internal import AuthRefreshInterface
internal import Basics

/// A sign-in on this terminal, and what the person is told at its end.
struct SignIn {
    /// Without the flow.
    private var parameters: StartSignIn.Parameters
    /// Nil chooses by where the user is.
    var flow: SignInFlow?
    var window = WindowChoice.Kind.usual
    /// The browser that the user named; nil uses the account's.
    var browser: String?
    private let output: OutputOptions
    private let connection: ConnectionOptions

    init(_ parameters: StartSignIn.Parameters, _ output: OutputOptions, _ connection: ConnectionOptions) {
        self.parameters = parameters
        self.output = output
        self.connection = connection
    }

    /// Guides the person through the sign-in, and says how it ended.
    ///
    /// - Parameter isFirst: whether the account was created for this sign-in, or for an earlier one without success.
    func run(isFirst: Bool = false) throws(Report) {
        let completion = try complete()
        guard isFirst, !output.json, StandardError.isTerminal else { return }
        let mailbox = completion?.status?.person?.mailbox
        StandardError.show(Self.programs(for: parameters.account, mailbox: mailbox, by: completion?.mailMechanisms))
    }

    /// Signs in, and returns the last event, if tokens came.
    private func complete() throws(Report) -> StartSignIn.Reply? {
        // A user who asks for a code wants to enter it elsewhere.
        let window = try WindowChoice(window, browser: browser, isForDesktop: flow != .device, in: .real)
        let session = try SignInSession(
            parameters,
            flows: flow.map { [$0] } ?? (window.isByPortalOnly ? SignInPlace.desktop : window.place).flows,
            window: window,
            takesPaste: flow == .paste || StandardInput.isTerminal && !output.json,
            connection: connection,
            output: output
        )
        let (status, ending) = try session.run()
        if let ending, try showUnchanged(ending) { return nil }
        if let name = status.person?.best { StandardError.note("signed in as \(PlainText.line(name))") }
        if let other = ending?.samePersonAs {
            StandardError.warn(
                "'\(PlainText.line(other))' is an account of the same person and client;"
                    + " to keep only that: \(Command("account", "remove", status.account))"
            )
        }
        if let declined = status.declinedScopes {
            let words = declined.map(PlainText.line).joined(separator: " ")
            let again = status.help ?? Hint(Command("login", status.account))
            StandardError.warn("the server did not grant \(words); to be asked again: " + again)
        }
        if !output.json { try StandardOutput.show(StatusSentence.line(for: status)) }
        // A resource server requires a stronger sign-in than this one.
        guard status.knownState != .interactionRequired else { throw .notFresh(status) }
        if let missing = status.refreshTokenMissing {
            try tellOfMissingRefreshToken(of: status.account, mayHelp: missing == "askConsent")
        }
        return ending
    }

    /// Shows the result of a sign-in that does not change the account.
    ///
    /// - Returns: false if the sign-in was of another kind.
    private func showUnchanged(_ ending: StartSignIn.Reply) throws(Report) -> Bool {
        if ending.event == "policy-completed" {
            let name = PlainText.line(parameters.policy ?? "")
            if !output.json {
                let account = parameters.account
                try StandardOutput.show("\(account): the policy '\(name)' is done; the account has not changed\n")
            }
            return true
        }
        guard let idToken = ending.idToken else { return false }
        guard AcquiredToken.isPrintable(idToken.token) else { throw .unreadableReply }
        StandardError.note(
            "'\(PlainText.line(idToken.subject))' signed in; the account has not changed,"
                + " because an ID token alone cannot be refreshed"
        )
        if !output.json { try StandardOutput.write("\(idToken.token)\n") }
        return true
    }

    /// Warns about a missing refresh token now, and not only when the access token has expired, and offers what may
    /// help.
    private func tellOfMissingRefreshToken(of account: String, mayHelp: Bool) throws(Report) {
        StandardError.warn("the server gave no refresh token: you must sign in each time the access token expires")
        let asksForConsent = parameters.prompt?.split(separator: " ").contains { $0 == "consent" } ?? false
        guard mayHelp, !asksForConsent else { return }
        guard Question.canBeAsked, !output.json,
            try Question.confirm("Sign in again and ask for consent, to get a refresh token?")
        else {
            let command = Command("login", PlainText.line(account), "--prompt", "consent")
            return StandardError.note("to ask the server for a refresh token: \(command)")
        }
        var again = self
        // The account exists by now.
        again.parameters.newAccount = nil
        again.parameters.account = account
        again.parameters.prompt = [parameters.prompt, "consent"].compactMap(\.self).joined(separator: " ")
        _ = try again.complete()
    }

    /// What to put into programs, so that they ask for the tokens of `account`.
    ///
    /// - Parameters:
    ///   - mailbox: the address of the person who signed in, if the server says it. Only a plain one is shown: the lines
    ///     are copied into files whose quotes and backticks mean something, and neomutt runs what is in them.
    ///   - mechanisms: the SASL mechanisms of the mail servers, the best first; empty if the account is not for mail,
    ///     nil if that is not known.
    static func programs(for account: String, mailbox: String?, by mechanisms: [String]? = nil) -> String {
        let mailbox = mailbox.flatMap { $0.wholeMatch(of: /[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+/) == nil ? nil : $0 }
        // The keys for the user's name, each on a line of its own.
        func user(_ key: String, _ quote: String = "") -> String {
            mailbox.map { "\n           \(key)\(quote)\($0)\(quote)" } ?? ""
        }
        let token = Command("token", account).text(by: .here)
        let exec = Command("exec", account, "--env", "TOKEN", "--", "sh", "-c").text(by: .here)
        let edit = Command("account", "edit", account, "--url", "https://HOST/").text(by: .here)
        let known = (mechanisms ?? ["oauthbearer", "xoauth2"]).filter(["oauthbearer", "xoauth2"].contains)
        let mail = known.first.map { best in
            // A server that takes only one is not offered the other.
            let only = known.count > 1 ? "" : "\n           set imap_authenticators = \"\(best)\""
            return """

                  mbsync   AuthMechs \(known.contains("xoauth2") ? "XOAUTH2" : "OAUTHBEARER")
                           PassCmd "\(token)"\(user("User "))
                  msmtp    auth \(best)
                           passwordeval \(token)\(user("user "))
                  neomutt  set imap_oauth_refresh_command = "\(token)"\(only)\(user("set imap_user = ", "\""))
                """
        }
        return """

            '\(account)' is ready. Programs get its token by:\(mail ?? "")
              git      git config --global credential.helper authctl
                       \(edit)
              curl     \(exec) \\
                         'printf "Authorization: Bearer %s\\n" "$TOKEN" | curl -H @- URL'
              shell    token=$(\(token))

            """
    }
}

/// Where the person is who signs in, as far as this process can tell.
enum SignInPlace: Equatable, Sendable {
    /// They see a browser that is started here.
    case desktop
    /// They are at the other end of SSH, where a browser cannot reach a loopback port of this machine.
    case remote
    /// There is no display: a text console, or a service.
    case noDisplay

    init(_ surroundings: Surroundings) {
        let has = { surroundings.environment($0) != nil }
        if Browser.named(in: surroundings) != nil {
            // A user who names a browser wants it to be used. Over SSH, it is one that can reach the user: remote
            // editors set the variable like that.
            self = .desktop
        } else if has("SSH_CONNECTION") || has("SSH_TTY") {
            // This also applies if DISPLAY is set, because a person with a browser of their own does not want one that
            // is drawn through SSH.
            self = .remote
        } else {
            let isDesktop = has("WAYLAND_DISPLAY") || has("DISPLAY") || Browser.ofWindows(in: surroundings) != nil
            self = isDesktop ? .desktop : .noDisplay
        }
    }

    /// The flows that are possible here, the best first; nil lets the daemon choose a flow with a browser here.
    ///
    /// The daemon finds out what the authorization server and the account's client support.
    var flows: [SignInFlow?] {
        switch self {
        case .desktop: [nil, .device]
        case .remote, .noDisplay: [.device, .paste]
        }
    }
}

/// The sign-in flows, by their wire names.
enum SignInFlow: String, CaseIterable, Sendable {
    /// The browser on this machine is redirected to a loopback port.
    case browser
    /// The browser on this machine is redirected to an address that the desktop passes to `authctl callback`.
    case scheme
    /// The user enters a code on a page that any device can open (RFC 8628).
    case device
    /// The user pastes the address on which a browser ended, on any machine.
    case paste
}
