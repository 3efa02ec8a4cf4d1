internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl account edit`.
struct AccountEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change an account's settings; what is not named stays.",
        discussion: """
            --scope, --param, --provider-setting, --allow-unit and --allow-executable replace all of their kind. --clear empties a \
            setting: issuer, provider, provider-setting, client-secret, client-key, client-key-id, team-id, client-auth, assertion-subject, assertion-audience, assertion-lifetime, scope, \
            param, authorization-parameter, authorization-details, redirect-uri, redirect-port, redirect-scheme, post-logout-redirect-uri, lead-time, rotation-grace, refresh-token-lifetime, allow-unit, allow-executable.

            Provider settings are for one server: they are emptied if --issuer, --provider or --set leads to another one, unless \
            --provider-setting gives new ones.

            An account with allowed units or executables can be edited and exported by those alone, and its tokens \
            are theirs alone; without, every process of yours may.

            Examples:

              authctl account edit work --lead-time 10m
              authctl account edit work --clear lead-time --scope offline_access
              authctl account edit work \\
                --allow-unit mbsync.service --allow-unit msmtpq.service
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @OptionGroup var options: SettingsOptions

    @Option(
        help: ArgumentHelp("A setting to empty; may be given several times.", valueName: "setting"),
        completion: .list(Self.clearable)
    )
    var clear: [String] = []

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        let cleared = try cleared()
        let parameters = UpdateAccount.Parameters(
            account: account,
            clear: cleared.isEmpty ? nil : cleared,
            issuer: options.issuer,
            provider: options.provider,
            variables: try options.variables(),
            providerSettings: try options.providerSettings(),
            clientId: options.clientId,
            clientAuthentication: options.clientAuth,
            clientSecret: try options.clientSecret(account: account)?.reveal(),
            clientKey: try options.clientKey()?.reveal(),
            clientKeyId: options.clientKeyId,
            teamId: options.teamId,
            assertionSubject: options.assertionSubject,
            assertionAudience: options.assertionAudience,
            assertionLifetimeSec: options.assertionLifetime?.seconds,
            scopes: options.scopes,
            refreshParameters: try options.refreshParameters(),
            authorizationParameters: try options.authorizationParameters(),
            authorizationDetails: try options.details(),
            redirectUri: options.redirectUri,
            redirectPort: options.redirectPort,
            redirectScheme: options.redirectScheme,
            postLogoutRedirectUri: options.postLogoutRedirectUri,
            leadTimeSec: options.leadTime?.seconds,
            rotationGraceSec: options.rotationGrace?.seconds,
            refreshTokenLifetimeSec: options.refreshTokenLifetime?.seconds,
            allowedUnits: options.allowedUnits,
            allowedExecutables: options.allowedExecutables
        )
        guard parameters != UpdateAccount.Parameters(account: account) else {
            throw .usage(message: "there is nothing to change", hint: "see 'authctl account edit --help'")
        }
        var daemon = try connection.connect()
        let reply = try daemon.ask(.updateAccount, parameters, for: UpdateAccount.Reply.self)
        try output.print(reply, or: SettingsView(settings: reply.settings, status: nil, time: .now).text)
    }

    static let clearable = SettingName.allCases.filter { $0 != .clientId && $0 != .variables }.map(\.option)

    /// The names on the wire of what `--clear` names.
    private func cleared() throws(AuthctlError) -> [String] {
        var fields: [String] = []
        for name in clear {
            guard let setting = SettingName.allCases.first(where: { $0.option == name }),
                Self.clearable.contains(name)
            else {
                throw .usage(
                    message: "'--clear' does not know this setting",
                    hint: "one of: \(Self.clearable.joined(separator: ", "))"
                )
            }
            fields.append(setting.rawValue)
        }
        return fields
    }
}
