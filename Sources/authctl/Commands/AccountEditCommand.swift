internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl account edit`.
struct AccountEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change some settings of an account.",
        discussion: """
            Examples:

              \(InvokedAs.here) account edit work --lead-time 10m
              \(InvokedAs.here) account edit work --confirm --forget-after 8h
              \(InvokedAs.here) account edit work --clear lead-time --scope offline_access
              \(InvokedAs.here) account edit work \\
                --allow-unit mbsync.service --allow-unit msmtpq.service

            Settings that you do not name stay as they are. --scope, --param, --provider-setting, --allow-unit and \
            --allow-executable replace the whole list. --for takes the scopes of a purpose from the provider's \
            profile; the next sign-in asks for them. --clear empties a setting: \(clearable.joined(separator: ", ")).

            Provider settings belong to one server. If --issuer, --provider or --set changes the server, they are \
            emptied, unless --provider-setting gives new ones.

            The client secret and the key belong to one server, too. A change of the server is refused unless you \
            say what to do with them: --keep-secret keeps them, --clear removes them, or give new ones.

            --register has the server register a new client, if it offers that (RFC 7591), with the account's \
            settings and a free port. The grant belongs to the old client, so sign in afterwards.

            If an account has allowed units or executables, only those can edit it, export it and get its tokens. \
            Otherwise all your processes can. If you are not on a list that you set, you are asked first; --yes \
            answers. --allow-executable takes the path of an executable file.

            --confirm has the agent ask on the desktop before a program gets one of the account's tokens or its \
            grant, and before the account is changed, renamed or removed. Your answer is for one call. Only \
            tokens can be allowed for an hour; they are then open to all programs of your session. Without the \
            agent ('systemctl --user start authrefresh-agent') such calls are refused.

            --login-browser takes the name of a known browser or of a desktop entry. For a browser with \
            arguments, such as a profile, write a desktop entry (~/.local/share/applications/NAME.desktop), or \
            set login_browser in the configuration.

            --redirect-scheme, or --redirect-uri with a scheme of your own, has the desktop hand addresses with \
            this scheme to authctl.

            --forget-after erases the account's tokens here this long after each sign-in, and with them those of \
            accounts derived from it. It does not revoke them at the server. '\(InvokedAs.here) status' and '\(InvokedAs.here) watch' \
            announce it before. The time needs a unit. If the last sign-in is longer ago, the change is refused; \
            with --yes the account signs out at once.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @OptionGroup var options: SettingsOptions

    @Option(
        name: .customLong("for"),
        help: .value(
            "purpose",
            "Ask for the scopes of this purpose, as the provider's profile names it: mail, calendar, files."
        ),
        completion: .list(["mail", "calendar", "files"])
    )
    var purpose: String?

    @Option(
        help: .value("setting", "A setting to empty; may be given several times."),
        completion: .list(Self.clearable)
    )
    var clear: [String] = []

    @Flag(help: "Have the server register a new client for this account (RFC 7591).")
    var register = false

    @OptionGroup var permission: RegistrationPermission

    @Flag(help: "Keep the client secret and the key although the server changes.")
    var keepSecret = false

    @Flag(
        help:
            "Sign out at once if the last sign-in is longer ago than --forget-after; set a list of allowed callers that you are not on."
    )
    var yes = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        let cleared = try cleared()
        var parameters = UpdateAccount.Parameters(account: account, clear: cleared.isEmpty ? nil : cleared)
        try options.apply(to: &parameters.settings)
        parameters.settings.authorizationDetails = try SettingsOptions.details(in: options.authorizationDetails)
        let client = try SecretFile.client(in: options.clientSecretFile, of: account, clientId: options.clientId)
        parameters.clientSecret = client?.secret?.reveal()
        parameters.settings.clientId = client?.id ?? options.clientId
        parameters.clientSecretExpiresAtUSec = options.clientSecretExpires?.startsAtUSec
        parameters.clientKey = try options.clientKeyFile.map(SecretFile.clientKey)?.reveal()
        parameters.keepSecret = keepSecret ? true : nil
        parameters.register = register ? true : nil
        parameters.initialAccessToken = try permission.token(register: register, account: account)
        guard purpose != nil || parameters != UpdateAccount.Parameters(account: account) else {
            throw .usage("there is nothing to change", hint: "see '\(Command("account", "edit", "--help"))'")
        }
        parameters.signOutNow = yes ? true : nil
        var daemon = try connection.connect()
        if let purpose {
            var provider = options.provider
            if provider == nil { provider = try daemon.allSettings(accounts: [account]).accounts.first?.provider }
            let others = parameters.settings.scopes ?? []
            parameters.settings.scopes = try daemon.scopes(for: purpose, of: provider, besides: others)
        }
        let changesList = parameters.settings.hasCallerList || cleared.contains { $0.hasPrefix("allowed") }
        let reply = try daemon.ask(
            parameters,
            settingList: \.withoutCaller,
            isMeant: yes && changesList,
            patience: DaemonConnection.refreshPatience,
            waitingFor: register ? "the authorization server" : "the daemon"
        )
        let view = SettingsView(
            settings: reply.settings,
            status: nil,
            signOutAtUSec: reply.signOutAtUSec,
            time: .now
        )
        try output.print(reply, or: view.text)
        reply.settings.warnOfTokenFile(by: parameters.settings)
        try daemon.warnOfSharedAddresses(of: reply.settings, by: parameters.settings)
        SchemeHandler.register(for: parameters.settings)
        if register, reply.settings.grantType == nil, !output.json {
            StandardError.note("to sign in with the new client: \(Command("login", PlainText.line(account)))")
        }
        if parameters.settings.redirectPort != nil, !register, !output.json { tellOfPort(in: reply.settings) }
        let hasRedirect = reply.settings.redirectUri != nil || reply.settings.redirectScheme != nil
        if reply.settings.grantType == nil, !hasRedirect { client?.warnOfRedirects() }
        // A person's grant covers what was requested when it was given. A service account requests scopes each time.
        guard parameters.settings.scopes != nil, reply.settings.grantType == nil, !output.json else { return }
        StandardError.note("to get the new scopes: \(Command("login", PlainText.line(account)))")
    }

    /// Says what the server has to know of a new port.
    private func tellOfPort(in settings: AccountSettings) {
        let account = PlainText.line(account)
        if settings.selfRegistered ?? false {
            return StandardError.note(
                "the server knows the client by its old port; for a new client: "
                    + "\(Command("account", "edit", account, "--register"))"
            )
        }
        guard let uri = RedirectWords.uri(of: settings) else { return }
        StandardError.note("register this redirect URI with the client: \(PlainText.line(uri))")
    }

    /// The wire names of the fields that can be cleared, by their names for `--clear`.
    private static let clearableFields: [(option: String, field: String)] =
        Setting.changeable.filter { $0.change == .any }.map { ($0.option, $0.name) }
        + [("client-secret", "clientSecret"), ("client-key", "clientKey")]

    static let clearable = clearableFields.map(\.option)

    private func cleared() throws(Report) -> [String] {
        var fields: [String] = []
        for name in clear {
            guard let known = Self.clearableFields.first(where: { $0.option == name }) else {
                throw .usage(
                    "'--clear' does not know this setting",
                    hint: "one of: \(Self.clearable.joined(separator: ", "))"
                )
            }
            fields.append(known.field)
        }
        return fields
    }
}
