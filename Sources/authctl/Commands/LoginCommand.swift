internal import ArgumentParser
internal import AuthRefreshInterface
internal import Terminal

/// `authctl login`.
struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in: bring a person, a browser and the authorization server together.",
        discussion: """
            Says which host the browser will show, opens it, and waits for its answer on a loopback port. The address that the \
            browser ended on can be pasted at any time instead. Over SSH and without a display nothing is opened: a code \
            is typed on any device, or the address is pasted.

            --flow: 'browser', back by a loopback port; 'scheme', back by a URI scheme, for which the desktop is told once to \
            call 'authctl callback'; 'device', a code typed on any device; 'paste', back by paste.

            --private opens a private window of Firefox, Chromium, Chrome, Brave, Vivaldi or Edge, of the default browser \
            if there is one, and refuses if it cannot. It shares the cookies of other private windows that are open; with \
            --temporary-profile it shares nothing; that window closes with the sign-in, and \
            closing it cancels.

            The browser is the one that --browser names, else the account's (account edit --login-browser), else login_browser of \
            the configuration, else BROWSER, else the desktop's own. One that is named and is not there is an error. \
            Where none is named and the desktop has a portal (org.freedesktop.portal.OpenURI), the portal opens the page. A usual window \
            shares the cookies of the others, so that whoever is signed in at the server already need not type a password; a private \
            one does not.

            --prompt adds to what the provider profile asks for: with Google, 'select_account' is sent as 'consent select_account'. \
            If the server gives no refresh token, the account keeps the one that it has.

            --new-account adds an account for another person: with the settings, the client and the secrets of the one that is named, \
            and a grant of its own. The server is asked to have the person choose who signs in. The account is added when the \
            sign-in has completed; before that there is nothing to remove.

            --policy runs another policy of a provider that has several (Azure AD B2C): to edit the profile, for example. The account and its \
            grant stay as they are, because a grant of another policy would be good for that policy only. A person who has \
            forgotten the password is sent to the policy in which it is reset, if the account names one (account edit \
            --provider-setting password_reset_policy=NAME), and signs in with the new password afterwards.

            Ctrl-C cancels. Closing the terminal does not: 'authctl login' follows the sign-in that is under way, and --restart begins \
            anew. With --json each event is one line.

            Exit status: 0 signed in, or the policy is done, 3 denied by the server, 65 another person signed in, 75 timed out or superseded by \
            another sign-in, 78 the server refuses how it is asked, 130 cancelled by the user, here or \
            at the server.

            Examples:

              authctl login work
              authctl login work --private --login-hint you@example.org
              authctl login work --flow device
              authctl login work --prompt select_account --replace
              authctl login work --policy B2C_1_edit_profile
              authctl login work --new-account shared-mailbox
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Option(help: "How to sign in. Without: what fits. With 'device' the other device may be signed in already.")
    var flow: SignInFlow?

    @Flag(name: .customLong("private"), help: "Open a private window, or nothing. The server asks who you are there.")
    var isPrivate = false

    @Flag(help: "Open a private window with a profile of its own, in which nobody is signed in.")
    var temporaryProfile = false

    @Flag(help: "Open nothing; show the address. Where you open it decides whether you are signed in already.")
    var noOpen = false

    @Option(
        help: ArgumentHelp(
            "The browser to open: a program in PATH, or its path. You may be signed in there already.",
            valueName: "program"
        )
    )
    var browser: String?

    @Flag(
        help:
            "Open the page by the desktop's portal only, in the browser that it chooses; you may be signed in there already."
    )
    var portal = false

    @Option(
        help: ArgumentHelp(
            "The window that the portal's dialog belongs to: x11:XID, wayland:HANDLE.",
            valueName: "handle"
        )
    )
    var parentWindow: String?

    @Option(help: ArgumentHelp("Ask for this: login, consent, select_account, create.", valueName: "prompt"))
    var prompt: String?

    @Option(help: ArgumentHelp("Whom the server should offer to sign in.", valueName: "name"))
    var loginHint: String?

    @Option(help: ArgumentHelp("How strongly to be authenticated; may be given several times.", valueName: "value"))
    var acrValues: [String] = []

    @Option(help: ArgumentHelp("How long ago the last authentication may have been: 0, 15m, 1h.", valueName: "time"))
    var maxAge: LengthOfTime?

    @Option(help: ArgumentHelp("A scope of the grant, instead of the account's own; repeatable.", valueName: "scope"))
    var scope: [String] = []

    @Option(help: ArgumentHelp("Claims to ask for, as JSON (OpenID Connect Core 5.5).", valueName: "json"))
    var claims: String?

    @Option(
        help: ArgumentHelp("Run this policy of the provider, and leave the account as it is.", valueName: "name")
    )
    var policy: String?

    @Option(
        help: ArgumentHelp(
            "Sign another person in: to a new account of this name, with the settings of the one above.",
            valueName: "name"
        )
    )
    var newAccount: String?

    @Flag(help: "Take the grant even if another person signs in than before.")
    var replace = false

    @Flag(help: "End the sign-in that is under way, and begin anew.")
    var restart = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard !noOpen || !(isPrivate || temporaryProfile) else {
            throw ValidationError("'--no-open' opens no private window")
        }
        guard newAccount == nil || policy == nil && !replace else {
            throw ValidationError("'--new-account' goes with neither '--policy' nor '--replace'")
        }
        guard parentWindow == nil || portal else { throw ValidationError("'--parent-window' goes with '--portal'") }
        guard !portal || !(noOpen || isPrivate || temporaryProfile || browser != nil || flow == .device) else {
            throw ValidationError("'--portal' chooses the window: it takes no other option that does")
        }
        guard !noOpen || browser == nil else { throw ValidationError("'--no-open' opens no browser") }
    }

    func run() throws(AuthctlError) {
        let window: SignInPlan.Window =
            portal
            ? .portal(parentWindow: parentWindow)
            : noOpen ? .none : isPrivate || temporaryProfile ? .privateWindow(hasOwnProfile: temporaryProfile) : .usual
        let plan = try SignInPlan(
            parameters,
            flow: flow,
            window: window,
            browser: browser,
            takesPaste: flow == .paste || StandardInput.isTerminal && !output.json,
            in: .real
        )
        var session = try SignInSession(plan, connection: connection, output: output)
        let status = try session.run()
        // The session has said that the account is as it was, however that is.
        guard !session.leftAccountUnchanged else { return }
        if let name = status.person?.best { StandardError.note("signed in as \(PlainText.line(name))") }
        if let other = session.samePersonAs {
            let remove = "authctl account remove \(status.account)"
            StandardError.warn(
                "'\(PlainText.line(other))' is the same person's account at the same client. To have one only: \(remove)"
            )
        }
        if let declined = status.declinedScopes {
            let words = declined.map(PlainText.line).joined(separator: " ")
            let again = "authctl login \(status.account) --prompt consent"
            StandardError.warn("asked for, and not granted: \(words). To be asked again: \(again)")
        }
        if !output.json { try StandardOutput.show(RefreshOutcome.line(for: status)) }
        // A stronger sign-in was demanded than the server made of this one.
        guard status.knownState != .interactionRequired else { throw .notFresh(status) }
        if let missing = status.refreshTokenMissing {
            try tellOfMissingRefreshToken(of: status.account, mayHelp: missing == "askConsent")
        }
    }

    /// Says at once what would show only when the access token has expired, and offers what may help.
    private func tellOfMissingRefreshToken(of account: String, mayHelp: Bool) throws(AuthctlError) {
        StandardError.warn(
            "the server gave no refresh token: somebody has to sign in each time the access token expires"
        )
        let asksForConsent = prompt?.split(separator: " ").contains { $0 == "consent" } ?? false
        guard mayHelp, !asksForConsent else { return }
        guard Question.canBeAsked, !output.json,
            try Question.confirm("Sign in once more, and have the server ask for your consent? That may bring one.")
        else {
            return StandardError.note("this may bring one: authctl login \(PlainText.line(account)) --prompt consent")
        }
        var again = self
        // It has been added by now.
        (again.account, again.newAccount) = (account, nil)
        again.prompt = [prompt, "consent"].compactMap(\.self).joined(separator: " ")
        try again.run()
    }

    private var parameters: StartSignIn.Parameters {
        StartSignIn.Parameters(
            account: account,
            restart: restart ? true : nil,
            replace: replace ? true : nil,
            prompt: prompt,
            loginHint: loginHint,
            acrValues: acrValues.isEmpty ? nil : acrValues,
            maxAgeSec: maxAge?.seconds,
            scopes: scope.isEmpty ? nil : scope.flatMap(TokenRequest.scopeTokens),
            claims: claims,
            policy: policy,
            newAccount: newAccount
        )
    }
}
