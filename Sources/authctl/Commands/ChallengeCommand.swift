internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl challenge`.
struct ChallengeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "challenge",
        abstract: "Get a new token after a server has refused one.",
        discussion: """
            Examples:

              \(InvokedAs.here) challenge work --header 'Bearer error="invalid_token"'
              \(InvokedAs.here) challenge work --header - < headers-that-curl-kept.txt
              \(InvokedAs.here) challenge work --header 'WWW-Authenticate: Bearer \\
                error="insufficient_user_authentication", acr_values="mfa"'

            Use it when a server refuses a token with 401 or 403. It reads the answer's WWW-Authenticate header \
            (RFC 6750, RFC 9470, claims challenges of Microsoft Entra). If the server no longer accepts the token, \
            the daemon replaces it. If the server asks for claims, the daemon asks for them in a refresh. If the \
            server wants a second factor, a more recent sign-in or more scopes, a person must act: the account \
            becomes interaction-required, and the next '\(InvokedAs.here) login' asks for exactly that. Until then its \
            tokens are handed out as before. '\(InvokedAs.here) refresh' cancels the request.

            If the header names the resource's metadata (RFC 9728, as remote MCP servers do), authctl says whose \
            tokens the resource accepts and for which scopes. If it accepts none of this account's, the token is \
            not replaced, and a hint names the account that fits.

            If the refused token came from a token set, name the set with --scope, --resource, --audience or \
            --claims.

            Exit status: 0 there is a new token to try, 3 a person must sign in, 65 the header cannot be \
            understood, or it says that the request itself is wrong, 78 the resource does not accept tokens of the \
            account's server.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Option(help: .value("header", "The header, or only its value; '-' looks for it in standard input."))
    var header: String

    @Option(help: .value("scope", "A scope of the token set; may be given several times."))
    var scope: [String] = []

    @Option(help: .value("uri", "A resource of the token set; may be given several times."))
    var resource: [String] = []

    @Option(help: .value("audience", "The audience of the token set."))
    var audience: String?

    @Option(help: .value("json", "The claims of the token set."))
    var claims: String?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        let challenge = try challenge()
        let parameters = ReportRejected.Parameters(
            account: account,
            scopes: scope.isEmpty ? nil : scope.flatMap(TokenRequest.scopeTokens),
            resources: resource.isEmpty ? nil : resource,
            audience: audience,
            claims: claims,
            challenge: challenge
        )
        var daemon = try connection.connect()
        if challenge.lowercased().contains("resource_metadata") { try checkResource(challenge, &daemon) }
        let reply = try daemon.ask(parameters, refreshing: account)
        guard reply.status.refreshExitStatus == .success else { throw .notFresh(reply.status) }
        try output.print(reply, or: StatusSentence.line(for: reply.status))
    }

    /// Follows the challenge to the resource's metadata, and says what the resource accepts.
    ///
    /// - Throws: `misconfigured` if no token of the account can help.
    private func checkResource(_ challenge: String, _ daemon: inout DaemonConnection) throws(Report) {
        let found: DiscoverResource.Reply
        do throws(Report) {
            found = try daemon.discover(DiscoverResource.Parameters(account: account, challenge: challenge))
        } catch {
            guard error.reply != nil, !error.isNoSuchAccount else { throw error }
            // A new token may help all the same.
            return StandardError.warn(Hint("the resource's metadata is not used: \(error.message)"))
        }
        StandardError.note(found.sentence)
        let accounts = try daemon.allSettings(accounts: []).accounts
        // The daemon reports an account that does not exist, and all that is wrong with the challenge.
        guard let own = accounts.first(where: { $0.name == account }), let issuer = own.issuer else { return }
        guard found.fitting([own]) != nil else {
            throw Report(
                status: .misconfigured,
                name: "authctl.OtherIssuer",
                message: "'\(PlainText.line(found.resource))' does not accept tokens of '\(account)', whose server is"
                    + " '\(PlainText.line(issuer))'",
                hints: [
                    found.fitting(accounts).map { "this account fits: \(found.tokenCommand(of: $0))" }
                        ?? "to add an account: \(Command("login", "NAME", "--resource-server", found.resource))"
                ]
            )
        }
        let usual = own.refreshParameters?["resource"].map { [$0] } ?? []
        let asked = resource.isEmpty ? usual : resource
        guard !asked.contains(found.resource) else { return }
        StandardError.note("a token for this resource: \(found.tokenCommand(of: own))")
    }

    private func challenge() throws(Report) -> String {
        let lines = header == "-" ? try SecretFile(name: "-", purpose: .headers).read(prompt: nil).reveal() : header
        // RFC 9110 §5.3: several fields with the same name form one list.
        let values = lines.split(whereSeparator: \.isNewline).compactMap { Self.value(of: $0, isNamed: header == "-") }
        guard !values.isEmpty else {
            throw .document(
                "the WWW-Authenticate header is missing",
                hint:
                    "pass the headers of the 401 or 403 answer, as '\(Command(program: "curl", "-D", "FILE"))' saves them"
            )
        }
        return values.joined(separator: ", ")
    }

    /// The value after the header's name; nil for another header.
    ///
    /// - Parameter isNamed: whether every header line must have its name.
    private static func value(of line: Substring, isNamed: Bool) -> String? {
        let name = "www-authenticate:"
        let trimmed = line.drop { $0.isWhitespace }
        guard trimmed.prefix(name.count).lowercased() == name else { return isNamed ? nil : String(trimmed) }
        return String(trimmed.dropFirst(name.count).drop { $0.isWhitespace })
    }
}
