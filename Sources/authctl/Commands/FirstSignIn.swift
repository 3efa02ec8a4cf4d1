internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// The options of `authctl login` that create a missing account. `authctl account add` has all settings.
struct NewAccountOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("If the account does not exist, add it with this provider.", valueName: "name"),
        completion: DaemonCompletion.providers
    )
    var provider: String?

    @Option(
        help: ArgumentHelp(
            "If the account does not exist, add it with this authorization server, an https URL.",
            valueName: "url"
        )
    )
    var issuer: String?

    @Option(
        help: ArgumentHelp(
            "If the account does not exist, add it for this server that takes its tokens, such as a remote MCP server.",
            valueName: "url"
        )
    )
    var resourceServer: String?

    @Option(help: ArgumentHelp("The tenant at the provider, for a new account.", valueName: "name"))
    var tenant: String?

    @Option(
        help: ArgumentHelp("A value that the provider's profile asks for, for a new account.", valueName: "name=value")
    )
    var `set`: [String] = []

    @Option(help: ArgumentHelp("The client id, for a new account.", valueName: "id"))
    var clientId: String?

    @Option(
        help: ArgumentHelp(
            "A file with the client secret, for a new account; '-' asks for it.",
            valueName: "file"
        ),
        completion: .file()
    )
    var clientSecretFile: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "What the tokens of a new account are for: mail, calendar, files.",
            valueName: "purpose"
        ),
        completion: .list(["mail", "calendar", "files"])
    )
    var purpose: String?

    /// Whether to create the account if it is missing.
    var areGiven: Bool { provider != nil || issuer != nil || resourceServer != nil }

    func validate() throws {
        let others = [tenant, clientId, clientSecretFile, purpose] + `set`
        guard areGiven || others.allSatisfy({ $0 == nil }) else {
            throw ValidationError("the settings of a new account need '--provider', '--issuer' or '--resource-server'")
        }
    }

    /// The options as arguments of `authctl account add`.
    func words(name: String?, scopes: [String], socket: String?) -> [String] {
        let values = [
            ("--provider", provider), ("--issuer", issuer), ("--resource-server", resourceServer),
            ("--tenant", tenant), ("--client-id", clientId), ("--client-secret-file", clientSecretFile),
            ("--for", purpose), ("--socket", socket),
        ]
        let options = values + `set`.map { ("--set", $0) } + scopes.map { ("--scope", $0) }
        return (name.map { [$0] } ?? []) + options.flatMap { name, value in value.map { ["\(name)=\($0)"] } ?? [] }
    }
}

/// Creates the account for a sign-in, if it is missing.
struct FirstSignIn {
    let options: NewAccountOptions
    let scopes: [String]
    let connection: ConnectionOptions

    /// Makes sure that the account exists.
    ///
    /// - Returns: the account's name.
    /// - Throws: `usage` if the name belongs to an account at another server; the errors of `account add`.
    func prepare(_ name: String?) throws(Report) -> String {
        guard let name, let known = try settings(of: name) else { return try make(name) }
        let isOther =
            options.provider.map { $0 != known.provider } ?? false
            || options.issuer.map { !$0.hasPrefix(known.issuer ?? $0) } ?? false
            || options.clientId.map { $0 != known.clientId } ?? false
            || options.resourceServer.map { !known.isFor(resourceAt: $0) } ?? false
        guard !isOther else {
            throw .usage(
                "'\(PlainText.line(name))' exists already, with other settings",
                hint:
                    "'\(Command("account", "show", PlainText.line(name)))' shows its settings; choose another name to add another account"
            )
        }
        return name
    }

    /// Adds the account, and asks for missing values if a person can answer; returns its name.
    func make(_ name: String?) throws(Report) -> String {
        let words = options.words(name: name, scopes: scopes, socket: connection.socket)
        let command: AccountAddCommand
        do {
            command = try AccountAddCommand.parse(words)
        } catch {
            let message = ParserReport.oneLine(AccountAddCommand.message(for: error)).lowercasedFirst
            throw .usage(message, hint: "see '\(Command("account", "add", "--help"))'")
        }
        return try command.add().reply.status.account
    }

    /// The settings of the account; nil if there is none of this name.
    private func settings(of name: String) throws(Report) -> AccountSettings? {
        var daemon = try connection.connect()
        do throws(Report) {
            return try daemon.allSettings(accounts: [name]).accounts.first
        } catch {
            guard error.isNoSuchAccount else { throw error }
            return nil
        }
    }
}

extension AccountSettings {
    /// Whether the account's tokens are for the resource at `url`, or for one above it on the same host.
    fileprivate func isFor(resourceAt url: String) -> Bool {
        guard var resource = refreshParameters?["resource"] else { return false }
        if resource.hasSuffix("/") { resource.removeLast() }
        return url == resource || url.hasPrefix(resource + "/")
    }
}

extension Report {
    /// Whether the error means that there is no account of the requested name.
    var isNoSuchAccount: Bool { reply?.name == NoSuchAccountError.name }

    /// The account with a similar name, if there is no account of the requested one; nil if none is similar.
    var similarAccount: String? {
        reply.flatMap { WireText.decode(NoSuchAccountError.self, fromText: $0.parameters)?.nearest }
    }
}
