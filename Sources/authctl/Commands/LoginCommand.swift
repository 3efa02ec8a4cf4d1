internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl login`.
struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to an account, usually in a browser.",
        discussion: """
            Examples:

              \(InvokedAs.here) login work
              \(InvokedAs.here) login work --provider google --for mail
              \(InvokedAs.here) login notes --resource-server https://mcp.example.com/mcp
              \(InvokedAs.here) login work --private --login-hint you@example.org
              \(InvokedAs.here) login work --flow device
              \(InvokedAs.here) login work --prompt select_account --replace
              \(InvokedAs.here) login work --policy B2C_1_edit_profile
              \(InvokedAs.here) login work --new-account shared-mailbox

            If no account has this name, --provider, --issuer or --resource-server adds it first; on a terminal, \
            authctl asks for what is missing. --resource-server names a server that takes the tokens, such as a \
            remote MCP server, and needs nothing else: see '\(InvokedAs.here) account add --help'. At the end authctl shows what to put into the programs that will use the account's \
            tokens.

            authctl says which host the browser will show, opens the browser, and waits for its answer on a \
            loopback port. Instead, you can paste the address that the browser ended on at any time. Over SSH and \
            without a display authctl opens nothing: you type a code on any device, or paste the address.

            --flow says how the answer comes back. 'browser': through a loopback port. 'scheme': through a URI \
            scheme; the desktop is set up once to call '\(InvokedAs.here) callback' for it. 'device': you type a code on any \
            device. 'paste': you paste the address.

            --private opens a private window of Firefox, Chromium, Chrome, Brave, Vivaldi or Edge. It uses the \
            default browser if it is one of these. If no browser can open a private window, the command fails. A \
            private window shares the cookies of other open private windows. With --temporary-profile the window \
            shares nothing. It closes when the sign-in is over, and closing it cancels the sign-in. '\(InvokedAs.here) \
            account edit --login-window private' makes either kind the account's own, also for the notification's button. authctl cannot \
            notice that any other window was closed: press Ctrl-C to cancel.

            The browser is the first that is set of: --browser, the account's (account edit --login-browser), \
            login_browser in the configuration, BROWSER, the desktop's default. If a browser is named and does not \
            exist, that is an error. If none is named and the desktop has a portal \
            (org.freedesktop.portal.OpenURI), the portal opens the page. An ordinary window shares the browser's \
            cookies, so if you are already signed in at the server you need not type a password. A private window \
            does not share them.

            --prompt adds to what the provider profile asks for: with Google, 'select_account' is sent as 'consent \
            select_account'. If the server gives no refresh token, the account keeps the one that it has.

            --nonce and --nonce-sha256 are for a back end that wants to know who signed in. The back end hands out \
            the nonce, and checks that the ID token contains it, or its SHA-256. '\(InvokedAs.here) token --id-token' prints \
            the ID token. With --response-type id_token authctl asks the server for an ID token only and prints \
            it. The account does not change, because without a code there is nothing to refresh.

            --new-account adds an account for another person. It copies the settings, the client and the secrets \
            of the named account, but not its --token-file, --url and --username, so that no program gets the \
            other person's tokens by itself. The new account gets a grant of its own. The server lets the person choose who signs in. The \
            account is added only when the sign-in has completed, so a failed sign-in leaves nothing to remove.

            --policy runs another policy of a provider that has several (Azure AD B2C), for example to edit the \
            profile. The account and its grant do not change, because a grant of another policy works for that \
            policy only. If a person has forgotten the password, the daemon sends them to the policy that resets \
            it, if the account names one (account edit --provider-setting password_reset_policy=NAME). Afterwards \
            they sign in with the new password.

            Ctrl-C cancels. Closing the terminal does not: '\(InvokedAs.here) login' follows the sign-in that is under way, \
            --restart starts a new one, and --cancel only ends it. --if-needed is for scripts: it signs in only if \
            the daemon cannot get a token without a person. With --json each event is one line.

            Exit status: 0 signed in, or the policy is done, 3 the server denied the sign-in, 65 another person \
            signed in, 75 timed out or replaced by another sign-in, 78 the server does not accept the request, or \
            the window or the browser is not available, 130 cancelled by the user, here or at the server.
            """
    )

    @Argument(
        help: "The account. On a terminal it can be left out if there is only one.",
        completion: DaemonCompletion.accounts
    )
    var account: String?

    @Option(
        help:
            "How to sign in. Default: what works here. With 'device' you may be signed in already on the other device."
    )
    var flow: SignInFlow?

    @OptionGroup var window: WindowOptions

    @OptionGroup var newAccountOptions: NewAccountOptions

    @Option(help: .value("prompt", "What the server should ask you for: login, consent, select_account, create."))
    var prompt: String?

    @Option(help: .value("name", "The user name that the server should suggest."))
    var loginHint: String?

    @Option(help: .value("value", "A level of authentication to ask for (acr); may be given several times."))
    var acrValues: [String] = []

    @Option(help: .value("time", "How long ago the last authentication may have been: 0, 15m, 1h."))
    var maxAge: LengthOfTime?

    @Option(help: .value("scope", "A scope to ask for, instead of the account's own; may be given several times."))
    var scope: [String] = []

    @Option(help: .value("json", "Claims to ask for, as JSON (OpenID Connect Core 5.5)."))
    var claims: String?

    @Option(help: .value("name", "Run this policy of the provider, and leave the account as it is."))
    var policy: String?

    @Option(
        help: .value(
            "name",
            "Add an account with this name for another person, with the settings of the account above."
        )
    )
    var newAccount: String?

    @Option(
        help: .value("type", "What the server answers with: code, 'code id_token' or id_token. Default: code."),
        completion: .list(Self.responseTypes)
    )
    var responseType: String?

    @Option(help: .value("text", "The nonce that the ID token must contain."))
    var nonce: String?

    @Option(
        name: .customLong("nonce-sha256"),
        help: .value("text", "The same, sent as its SHA-256 in hexadecimal digits.")
    )
    var hashedNonce: String?

    @Flag(help: "Accept the grant even if another person signs in, or the server does not say who.")
    var replace = false

    @Flag(help: "Cancel the sign-in that is under way, and start a new one.")
    var restart = false

    @Flag(help: "Cancel the sign-in that is under way, and start none.")
    var cancel = false

    @Flag(help: "Sign in only if a person is needed: the daemon first tries without one.")
    var ifNeeded = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    private static let responseTypes = ["code", "code id_token", "id_token"]

    func validate() throws {
        guard responseType.map(Self.responseTypes.contains) ?? true else {
            throw ValidationError("'--response-type' is one of: code, 'code id_token', id_token")
        }
        guard newAccount == nil || policy == nil && !replace else {
            throw ValidationError("'--new-account' cannot be combined with '--policy' or '--replace'")
        }
        guard !window.portal || flow != .device else {
            throw ValidationError("'--portal' chooses the window, and cannot be combined with other options that do")
        }
        guard !newAccountOptions.areGiven || newAccount == nil && policy == nil else {
            throw ValidationError(
                "'--provider', '--issuer' and '--resource-server' add an account, and cannot be combined with '--new-account' or '--policy'"
            )
        }
        guard !cancel || !ifNeeded && !restart && !newAccountOptions.areGiven && newAccount == nil else {
            throw ValidationError("'--cancel' cannot be combined with options that start a sign-in")
        }
        guard !ifNeeded || !asksForMore else {
            throw ValidationError("'--if-needed' cannot be combined with options that ask for another sign-in")
        }
        guard nonce == nil || hashedNonce == nil else {
            throw ValidationError("'--nonce' and '--nonce-sha256' exclude each other")
        }
    }

    func run() throws(Report) {
        if cancel { return try cancelSignIn() }
        if ifNeeded, let name = try newAccountOptions.areGiven ? account : connection.account(named: account) {
            guard try !isServed(name) else { return }
        }
        let scopes = scope.flatMap(TokenRequest.scopeTokens)
        if newAccountOptions.areGiven {
            let name = try newAccountOptions.addIfMissing(account, scopes, connection)
            return try signIn(to: name).run(isFirst: true)
        }
        let name = try connection.account(named: account)
        do throws(Report) {
            try signIn(to: name).run()
        } catch {
            guard error.isNoSuchAccount, newAccount == nil, policy == nil, Question.canBeAsked, !output.json else {
                throw error
            }
            let similar = error.similarAccount.map { " (did you mean '\(PlainText.line($0))'?)" } ?? ""
            guard try Question.confirm("No account is named '\(PlainText.line(name))'\(similar). Add it?") else {
                throw .reported(error.status)
            }
            try signIn(to: newAccountOptions.add(name, scopes, connection)).run(isFirst: true)
        }
    }

    private func signIn(to account: String) -> SignIn {
        let parameters = StartSignIn.Parameters(
            account: account,
            restart: restart ? true : nil,
            replace: replace ? true : nil,
            prompt: prompt,
            loginHint: loginHint,
            acrValues: acrValues.isEmpty ? nil : acrValues,
            maxAgeSec: maxAge?.seconds,
            scopes: scope.isEmpty ? nil : scope.flatMap(TokenRequest.scopeTokens),
            claims: claims,
            responseType: responseType,
            nonce: nonce ?? hashedNonce,
            hashesNonce: hashedNonce == nil ? nil : true,
            policy: policy,
            newAccount: newAccount
        )
        var signIn = SignIn(parameters, output, connection)
        signIn.flow = flow
        signIn.window = window.kind
        signIn.browser = window.browser
        return signIn
    }

    /// Whether the sign-in has a purpose that a token of the account does not fulfil.
    private var asksForMore: Bool {
        newAccount != nil || policy != nil || prompt != nil || maxAge != nil || claims != nil || responseType != nil
            || nonce != nil || hashedNonce != nil || replace || restart || !acrValues.isEmpty || !scope.isEmpty
    }

    /// Cancels the sign-in that is under way.
    private func cancelSignIn() throws(Report) {
        let name = try connection.account(named: account)
        var daemon = try connection.connect()
        do throws(Report) {
            let reply = try daemon.ask(CancelSignIn.Parameters(account: name))
            try output.print(reply, or: "\(PlainText.line(reply.account)): the sign-in is cancelled\n")
        } catch {
            guard error.reply?.name == NoSuchSignInError.name else { throw error }
            throw Report(
                status: .badData,
                name: NoSuchSignInError.name,
                message: "no sign-in of '\(PlainText.line(name))' is under way",
                hints: ["to start one: \(Command("login", name))"]
            )
        }
    }

    /// Whether the account has a token, or gets one without a person, so that nobody has to sign in.
    ///
    /// - Throws: why there is no token, if a person cannot help either.
    private func isServed(_ name: String) throws(Report) -> Bool {
        var daemon = try connection.connect()
        do throws(Report) {
            guard var status = try daemon.allStatuses(accounts: [name]).first else { return false }
            // A refresh does not bring what these need, and would cancel a step-up.
            guard !["stepUp", "scopesLost", "otherPerson"].contains(status.reason) else { return false }
            switch status.knownState {
            case .fresh, .refreshTokenExpiring: break
            case .signedOut, .parked: return false
            case .refreshing, .retrying, .interactionRequired, .misconfigured, nil:
                status = try daemon.ask(Refresh.Parameters(account: name), refreshing: name).status
            }
            guard status.refreshExitStatus == .success else { throw .notFresh(status) }
            try output.print(status, or: StatusSentence.line(for: status))
            return true
        } catch {
            guard [.interactionRequired, .signedOut, .noSuchAccount].contains(error.status) else { throw error }
            return false
        }
    }
}
