internal import ArgumentParser

/// The options of commands that ask for another token than the account's default one.
struct TokenTargetOptions: ParsableArguments {
    @Option(help: .value("scope", "A scope that the token should have; may be given several times."))
    var scope: [String] = []

    @Option(help: .value("uri", "A resource that the token is for, as a URI (RFC 8707); may be given several times."))
    var resource: [String] = []

    @Option(help: .value("audience", "The audience that the token is for, if the server supports that."))
    var audience: String?

    // If a blank value were ignored, the call would mean the account's default token.
    func validate() throws {
        guard !scope.contains(where: { TokenRequest.scopeTokens(of: $0).isEmpty }), !resource.contains(""),
            audience != ""
        else { throw ValidationError("'--scope', '--resource' and '--audience' need a value") }
    }

    var isGiven: Bool { !scope.isEmpty || !resource.isEmpty || audience != nil }

    /// The request for this token.
    func request(for account: String, minimumValidity: LengthOfTime?, socket: String?) -> TokenRequest {
        TokenRequest(
            account: account,
            minimumValidity: minimumValidity?.seconds,
            scopes: scope.flatMap(TokenRequest.scopeTokens),
            resources: resource,
            audience: audience,
            socket: socket
        )
    }

    /// The options as arguments.
    var words: [String] {
        let all =
            scope.map { ("--scope", $0) } + resource.map { ("--resource", $0) }
            + [audience].compactMap { $0.map { ("--audience", $0) } }
        return all.flatMap { [$0.0, $0.1] }
    }
}
