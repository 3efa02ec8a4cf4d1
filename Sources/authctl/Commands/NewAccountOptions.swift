internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// The options of `authctl login` that create a missing account. `authctl account add` has all settings.
struct NewAccountOptions: ParsableArguments {
    @Option(
        help: .value("name", "If the account does not exist, add it with this provider."),
        completion: DaemonCompletion.providers
    )
    var provider: String?

    @Option(help: .value("url", "If the account does not exist, add it with this authorization server, an https URL."))
    var issuer: String?

    @Option(
        help: .value(
            "url",
            "If the account does not exist, add it for this server that takes its tokens, such as a remote MCP server."
        )
    )
    var resourceServer: String?

    @Option(help: .value("name", "The tenant at the provider, for a new account."))
    var tenant: String?

    @Option(help: .value("name=value", "A value that the provider's profile asks for, for a new account."))
    var `set`: [String] = []

    @Option(help: .value("id", "The client id, for a new account."))
    var clientId: String?

    @Option(
        help: .value("file", "A file with the client secret, for a new account; '-' asks for it."),
        completion: .file()
    )
    var clientSecretFile: String?

    @Option(
        help: .value(
            "file",
            "The absolute path of a file with another issuer's JWT about the client, for a new account."
        ),
        completion: .file()
    )
    var clientAssertionFile: String?

    @Option(
        name: .customLong("for"),
        help: .value("purpose", "What the tokens of a new account are for: mail, calendar, files."),
        completion: .list(["mail", "calendar", "files"])
    )
    var purpose: String?

    /// Whether to create the account if it is missing.
    var areGiven: Bool { provider != nil || issuer != nil || resourceServer != nil }

    func validate() throws {
        let others = [tenant, clientId, clientSecretFile, clientAssertionFile, purpose] + `set`
        guard areGiven || others.allSatisfy({ $0 == nil }) else {
            throw ValidationError("the settings of a new account need '--provider', '--issuer' or '--resource-server'")
        }
    }

    /// Adds the account unless there is one of this name, and asks for missing values if a person can answer.
    ///
    /// - Returns: the account's name.
    /// - Throws: `usage` if the name belongs to an account at another server; the errors of `account add`.
    func addIfMissing(_ name: String?, _ scopes: [String], _ connection: ConnectionOptions) throws(Report) -> String {
        var known: AccountSettings?
        if let name {
            var daemon = try connection.connect()
            known = try daemon.settings(of: name)
        }
        guard let name, let known else { return try add(name, scopes, connection) }
        let isOther =
            provider.map { $0 != known.provider } ?? false
            || issuer.map { !$0.hasPrefix(known.issuer ?? $0) } ?? false
            || clientId.map { $0 != known.clientId } ?? false
            || resourceServer.map { !known.isFor(resourceAt: $0) } ?? false
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
    func add(_ name: String?, _ scopes: [String], _ connection: ConnectionOptions) throws(Report) -> String {
        var new = NewAccount(name, connection)
        new.settings.provider = provider
        new.settings.issuer = issuer
        new.settings.clientId = clientId
        new.settings.clientAssertionFile = clientAssertionFile
        new.settings.variables = try SettingsOptions.variables(["tenant": tenant], set: set)
        new.settings.scopes = scopes.isEmpty ? nil : scopes
        new.resourceServer = resourceServer
        new.clientSecretFile = clientSecretFile
        new.purpose = purpose
        return try new.add().status.account
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
        reply?.decode(NoSuchAccountError.self)?.nearest
    }
}
