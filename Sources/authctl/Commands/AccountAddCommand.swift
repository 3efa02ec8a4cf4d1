internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account add`.
struct AccountAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an account.",
        discussion: """
            With a refresh token the daemon refreshes at once, and this command waits for the outcome; if that fails \
            the account stays added, and the exit status tells why: 3, 75 or 78.

            Secrets are read from a file of mode 0600, from standard input ('-'), or typed on the terminal ('-'), \
            where they are not shown.

            Examples:

              authctl account add work --issuer https://login.example.com \\
                --client-id mail --scope offline_access --refresh-token-file token.txt
              authctl account add home --provider google --client-id ID \\
                --client-secret-file secret.txt --refresh-token-file -
            """
    )

    @Argument(help: "Its name: letters, digits and ._@+-")
    var name: String

    @OptionGroup var options: SettingsOptions

    @Option(
        help: ArgumentHelp(
            "A file with the refresh token, or with a token answer in JSON; '-' as above.",
            valueName: "file"
        ),
        completion: .file()
    )
    var refreshTokenFile: String?

    @Flag(help: "Do not wait for the first refresh.")
    var noWait = false

    @Flag(help: "Bind the tokens to a key of the account's own (DPoP); the server has to offer it.")
    var dpop = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        guard let clientId = options.clientId else {
            throw .usage(message: "'--client-id' is missing", hint: "see 'authctl account add --help'")
        }
        guard options.issuer != nil || options.provider != nil else {
            throw .usage(message: "'--issuer' or '--provider' is missing", hint: "see 'authctl account add --help'")
        }
        guard options.clientSecretFile != "-" || refreshTokenFile != "-" else {
            throw .usage(message: "only one secret can come from '-'", hint: "put the other one into a file")
        }
        let settings = AccountSettings(
            name: name,
            issuer: options.issuer,
            provider: options.provider,
            clientId: clientId,
            clientAuthentication: options.clientAuth,
            clientKeyId: options.clientKeyId,
            teamId: options.teamId,
            dpop: dpop ? true : nil,
            scopes: options.scopes,
            refreshParameters: try options.refreshParameters(),
            leadTimeSec: options.leadTime?.seconds,
            rotationGraceSec: options.rotationGrace?.seconds,
            refreshTokenLifetimeSec: options.refreshTokenLifetime?.seconds,
            allowedUnits: options.allowedUnits,
            allowedExecutables: options.allowedExecutables
        )
        let parameters = AddAccount.Parameters(
            settings: settings,
            clientSecret: try options.clientSecret(account: name)?.reveal(),
            clientKey: try options.clientKey()?.reveal(),
            refreshToken: try refreshToken()
        )
        var daemon = try connection.connect()
        let status = try daemon.ask(.addAccount, parameters, for: AddAccount.Reply.self).status
        let isRefreshing = parameters.refreshToken != nil && !noWait
        let outcome = isRefreshing ? try daemon.settle(status, done: "'\(status.account)' was added") : status
        try output.print(AddAccount.Reply(status: outcome), or: RefreshOutcome.line(for: outcome))
    }

    private func refreshToken() throws(AuthctlError) -> String? {
        guard let refreshTokenFile else { return nil }
        return try GrantFile(name: refreshTokenFile, account: name).refreshToken()
    }
}
