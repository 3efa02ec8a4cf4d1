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

            If the refused token came from a token set, name the set with --scope, --resource, --audience or \
            --claims.

            Exit status: 0 there is a new token to try, 3 a person must sign in, 65 the header cannot be \
            understood, or it says that the request itself is wrong.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Option(
        help: ArgumentHelp(
            "The header, or only its value; '-' looks for it in standard input.",
            valueName: "header"
        )
    )
    var header: String

    @Option(help: ArgumentHelp("A scope of the token set; may be given several times.", valueName: "scope"))
    var scope: [String] = []

    @Option(help: ArgumentHelp("A resource of the token set; may be given several times.", valueName: "uri"))
    var resource: [String] = []

    @Option(help: ArgumentHelp("The audience of the token set.", valueName: "audience"))
    var audience: String?

    @Option(help: ArgumentHelp("The claims of the token set.", valueName: "json"))
    var claims: String?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        let parameters = ReportRejected.Parameters(
            account: account,
            scopes: scope.isEmpty ? nil : scope.flatMap(TokenRequest.scopeTokens),
            resources: resource.isEmpty ? nil : resource,
            audience: audience,
            claims: claims,
            challenge: try challenge()
        )
        var daemon = try connection.connect()
        let reply = try daemon.ask(
            .reportRejected,
            parameters,
            for: ReportRejected.Reply.self,
            patience: DaemonConnection.refreshPatience,
            waitingFor: DaemonConnection.server(of: account)
        )
        guard reply.status.refreshExitStatus == .success else { throw .notFresh(reply.status) }
        try output.print(reply, or: StatusSentence.line(for: reply.status))
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
