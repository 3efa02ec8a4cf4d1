internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// The command's full name: `authctl account add`.
struct AccountAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an account.",
        discussion: """
            Examples:

              \(InvokedAs.here) account add
              \(InvokedAs.here) account add work --issuer https://login.example.com \\
                --client-id mail --scope offline_access --refresh-token-file token.txt
              \(InvokedAs.here) account add mail --provider microsoft --tenant organizations \\
                --client-id ID --for mail
              \(InvokedAs.here) account add wiki --issuer https://as.example.org --register
              \(InvokedAs.here) account add notes --resource-server https://mcp.example.com/mcp
              \(InvokedAs.here) account add home --provider google \\
                --client-secret-file client_secret.json --refresh-token-file -
              \(InvokedAs.here) account add ci --issuer https://as.example.org --client-id ci \\
                --client-secret-file secret.txt --grant client-credentials --scope deploy
              \(InvokedAs.here) account add robot --provider google --grant jwt-bearer \\
                --client-key-file key.json --assertion-subject you@example.org \\
                --scope https://www.googleapis.com/auth/drive.readonly
              \(InvokedAs.here) account add wiki-bot --issuer https://as.example.org \\
                --client-id bot --client-secret-file secret.txt --grant token-exchange \\
                --subject-account work --audience wiki --scope read

            With a refresh token the daemon refreshes at once, and this command waits for the outcome. If the \
            refresh fails, the account stays, and the exit status tells why: 3, 75 or 78.

            On a terminal it asks for what is missing: the name, the provider and its settings, the client and its \
            secret, and what the tokens are for. It checks each answer at once, shows what is worth knowing about \
            the provider, and offers to sign in.

            The daemon checks that the server is the issuer that you named. If the server cannot be reached, the \
            account is added with a warning. If it is another issuer, or not an authorization server, the account \
            is not added (status 65). --offline skips this check.

            --for takes the scopes of a purpose from the provider's profile: mail, calendar or files for google \
            and microsoft.

            --register asks the server to register a client for this account (RFC 7591), if the server offers \
            that, with a free port of this machine, which the account keeps. If the server forgets the client, the \
            next '\(InvokedAs.here) login' registers a new one. '\(InvokedAs.here) logout --forget' asks the server to delete the client again.

            --resource-server names the server that will take the tokens, such as a remote MCP server. The daemon asks \
            it without a token, and reads who issues its tokens and for which scopes (RFC 9728). authctl adds the \
            account for this issuer and this resource, and registers a client unless --client-id names one. If the \
            resource has several issuers, authctl asks which, or --issuer names it.

            Without a provider profile the account gets a redirect URI with a path that no other server has, so \
            that one server cannot pass off another server's answer as its own. The command prints the URI: \
            register it with the client. If the client has another one already, name it with --redirect-uri. \
            --require-iss trusts the server to name itself instead (RFC 9207).

            --grant adds a service account. Its client obtains tokens for itself, the first at once and the next \
            before each expires; nobody signs in. It cannot become an ordinary account later. '\(InvokedAs.here) logout' \
            erases its token, and '\(InvokedAs.here) refresh' starts it again. client-credentials uses the client's own \
            secret or key. jwt-bearer uses the client's key to sign a statement of whom the token is for; Google's \
            JSON key file works as it is, and contains the client id. token-exchange exchanges the token of \
            another account here for a token of this one, for another audience or with fewer rights.

            Secrets are read from a file, from standard input ('-'), or typed on the terminal ('-'), where they \
            are not shown. If others can read the file, you get a warning.
            """
    )

    @Argument(help: "Its name: letters, digits and ._@+-")
    var name: String?

    @OptionGroup var options: SettingsOptions

    @Option(
        help: .value(
            "file",
            "A file with the refresh token, a token answer in JSON, or another program's JSON file that also names the client; '-' reads standard input, or asks on the terminal."
        ),
        completion: .file()
    )
    var refreshTokenFile: String?

    @Flag(help: "Ask the server to register a client for this account (RFC 7591), instead of --client-id.")
    var register = false

    @Option(
        help: .value(
            "url",
            "A server that takes the tokens, such as a remote MCP server: it names its authorization server and scopes (RFC 9728)."
        )
    )
    var resourceServer: String?

    @OptionGroup var permission: RegistrationPermission

    @Option(
        name: .customLong("for"),
        help: .value("purpose", "What the tokens are for, as the provider's profile names it: mail, calendar, files."),
        completion: .list(["mail", "calendar", "files"])
    )
    var purpose: String?

    @Flag(help: "Do not wait for the first refresh.")
    var noWait = false

    @Flag(help: "Add the account without asking its server anything.")
    var offline = false

    @Flag(help: "Set a list of allowed callers (--allow-unit, --allow-executable) that you are not on.")
    var yes = false

    @Flag(help: "Bind the tokens to a key of the account's own (DPoP); the server must support it.")
    var dpop = false

    @Option(help: "Add a service account, whose client obtains tokens by this grant.")
    var grant: GrantOption?

    @Option(
        help: .value("account", "The account whose token is exchanged for this one's (token-exchange)."),
        completion: DaemonCompletion.accounts
    )
    var subjectAccount: String?

    @Option(help: "Which of its tokens is exchanged. Default: access_token.")
    var subjectTokenType: TokenTypeOption?

    @Option(
        help: .value("account", "The account that acts on behalf of the other one. Default: the client acts."),
        completion: DaemonCompletion.accounts
    )
    var actorAccount: String?

    @Option(help: "Which of its tokens is sent. Default: access_token.")
    var actorTokenType: TokenTypeOption?

    @Option(
        help: .value(
            "type",
            "The type of token to ask for: a URI, or the last word of one in urn:ietf:params:oauth:token-type. Default: the server chooses."
        ),
        completion: .list(TokenTypeOption.allCases.map(\.rawValue))
    )
    var requestedTokenType: String?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var new = NewAccount(name, connection)
        try options.apply(to: &new.settings)
        new.settings.dpop = dpop ? true : nil
        new.settings.grantType = grant?.grantType
        new.settings.subjectAccount = subjectAccount
        new.settings.subjectTokenType = subjectTokenType?.identifier
        new.settings.actorAccount = actorAccount
        new.settings.actorTokenType = actorTokenType?.identifier
        new.settings.requestedTokenType = requestedTokenType.map(TokenTypeOption.identifier)
        new.resourceServer = resourceServer
        new.purpose = purpose
        new.clientSecretFile = options.clientSecretFile
        new.clientSecretExpires = options.clientSecretExpires
        new.clientKeyFile = options.clientKeyFile
        new.refreshTokenFile = refreshTokenFile
        new.authorizationDetailsFile = options.authorizationDetails
        new.registers = register
        new.permission = permission
        new.checksServer = !offline
        new.waits = !noWait
        new.isListMeant = yes
        let reply = try new.add()
        try output.print(reply, or: StatusSentence.line(for: reply.status))
        guard reply.status.state == "signed-out" else { return }
        let account = reply.status.account
        if new.isDialogue, !output.json, try Question.confirm("Sign in now?", byDefault: true) {
            return try SignIn(StartSignIn.Parameters(account: account), output, connection).run(isFirst: true)
        }
        StandardError.note("next: \(Command("login", PlainText.line(account)))")
    }
}
