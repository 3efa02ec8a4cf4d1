internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl token`.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a valid access token.",
        discussion: """
            Examples:

              \(InvokedAs.here) token work
              \(InvokedAs.here) token work --min-validity 10m
              \(InvokedAs.here) token work --scope mail.read --scope mail.send
              \(InvokedAs.here) token work --resource https://api.example.com/
              \(InvokedAs.here) token work --claims '{"access_token":{"acr":{"value":"mfa"}}}'
              \(InvokedAs.here) token work --id-token
              \(InvokedAs.here) token work --dpop GET https://api.example.com/ --format header
              vars=$(\(InvokedAs.here) token work --format env) && eval "$vars" || exit
              \(InvokedAs.here) token work --format xoauth2 --user you@example.org
              \(InvokedAs.here) exec work --env TOKEN -- sh -c \\
                'printf "Authorization: Bearer %s\\n" "$TOKEN" | curl -H @- URL'

            Prints the stored token if it is valid for long enough. Otherwise it waits for one refresh, which all \
            callers share. If refreshing fails, or the new token is valid for less than --min-validity, a token \
            that is still valid is printed anyway, with a warning on standard error (with --json {"warning": \
            ...}).

            With --scope, --resource, --audience or --claims it prints a token for this combination, a token set, \
            instead of the account's default token. The daemon obtains the token set with the account's grant on \
            the first request, stores it, and gives it to every program that asks for the same. If a server \
            refuses a token set, the account itself does not change; the exit status is 78, or 3 if you can solve \
            it, for example by consent.

            Some servers narrow the account's default token after a request with --scope, although RFC 6749 \
            (section 6) forbids it. The daemon notices that, and asks for the full scope in every later refresh. \
            '\(InvokedAs.here) status' shows scopes that are still missing.

            --format: 'raw', only the token; 'header', an Authorization header line; 'headers-json', the same as a \
            JSON object, for programs that run a command for their headers; 'json', one object; 'env', \
            lines for a shell's eval that export AUTHREFRESH_ACCOUNT, AUTHREFRESH_ACCESS_TOKEN, \
            AUTHREFRESH_TOKEN_TYPE and AUTHREFRESH_EXPIRES_AT (seconds since 1970); 'xoauth2' and 'oauthbearer', \
            the initial response of that SASL mechanism in base64. The last two name the mailbox: that of the \
            person who signed in, unless the account is named after a mailbox, or --user names one.

            --dpop METHOD URL is for an account whose tokens are bound to a key (RFC 9449). It also prints a proof \
            for one request: a second line with 'raw', a DPoP header with 'header' and 'headers-json', 'dpopProof' with 'json', \
            AUTHREFRESH_DPOP_PROOF with 'env'. If the server answers 'use_dpop_nonce', call authctl again with \
            --dpop-nonce and the value of its DPoP-Nonce header.

            --id-token prints the account's ID token instead, for a program that shows its own back end who signed \
            in. The daemon refreshes the ID token when it has expired. 'json' also prints its subject, audiences \
            and nonce; 'env' exports AUTHREFRESH_ID_TOKEN. If the server sends no ID token with a refresh, you \
            must sign in to get a new one: exit status 3.

            Every program that a shell starts can read its environment. Use 'env' only for programs that take a \
            token in no other way.
            """
    )

    @Argument(
        help: "The account. On a terminal it can be left out if there is only one.",
        completion: DaemonCompletion.accounts
    )
    var account: String?

    @Option(help: .value("time", "How long the token must still be valid: 60s, 5m, 1h."))
    var minValidity: LengthOfTime?

    @OptionGroup var target: TokenTargetOptions

    @Option(help: .value("json", "Claims that the token should contain, a JSON object (OpenID Connect Core 5.5)."))
    var claims: String?

    @Flag(help: "Refresh even if the token is valid.")
    var force = false

    @Option(help: "How to print the token. Default: raw.")
    var format: TokenFormat?

    @Flag(help: "The same as '--format json'.")
    var json = false

    @Option(
        help: .value(
            "name",
            "Whose mailbox it is, for xoauth2 and oauthbearer, if it is not that of the person who signed in."
        )
    )
    var user: String?

    @Flag(help: "Print the account's ID token instead of an access token.")
    var idToken = false

    @Option(
        parsing: .upToNextOption,
        help: .value("method> <url", "Also print a proof for this request: its method and its URL.")
    )
    var dpop: [String] = []

    @Option(help: .value("nonce", "The value of the server's DPoP-Nonce header."))
    var dpopNonce: String?

    @OptionGroup var connection: ConnectionOptions

    /// The request, equal to the one that is made from these arguments by hand.
    func request(for account: String) -> TokenRequest {
        var request = target.request(for: account, minimumValidity: minValidity, socket: connection.socket)
        request.claims = claims
        request.force = force
        request.idToken = idToken
        request.format = format ?? (json ? .json : .raw)
        request.user = user
        return request
    }

    func validate() throws {
        guard claims != "" else { throw ValidationError("'--claims' needs a value") }
        guard !json || format == nil || format == .json else {
            throw ValidationError("'--json' and '--format' cannot be combined")
        }
        guard dpop.isEmpty || dpop.count == 2 else {
            throw ValidationError("'--dpop' takes a method and a URL; put the account before it")
        }
        guard dpop.isEmpty || format?.needsUser != true else {
            throw ValidationError("'--dpop' is for HTTP requests, and '\(format?.rawValue ?? "")' for mailboxes")
        }
        guard !idToken || (!target.isGiven && claims == nil) else {
            throw ValidationError(
                "'--id-token' cannot be combined with '--scope', '--resource', '--audience' or '--claims'"
            )
        }
        guard !idToken || dpop.isEmpty else {
            throw ValidationError("'--dpop' is for access tokens, not for '--id-token'")
        }
        guard !idToken || format?.needsUser != true else {
            throw ValidationError("'--format \(format?.rawValue ?? "")' is for access tokens, not for '--id-token'")
        }
        guard dpopNonce == nil || !dpop.isEmpty else { throw ValidationError("'--dpop-nonce' needs '--dpop'") }
    }

    func run() throws(Report) {
        let request = request(for: try connection.account(named: account))
        if idToken {
            var daemon = try connection.connect()
            return try StandardOutput.write(request.acquireIDToken(from: &daemon).token.text(for: request))
        }
        guard dpop.count == 2 else {
            return try request.answer { text throws(Report) in try StandardOutput.write(text) }
        }
        try StandardOutput.write(provenToken(request))
    }

    /// A token with the proof for one request that we have the account's key (RFC 9449), as text for standard output.
    private func provenToken(_ request: TokenRequest) throws(Report) -> String {
        var daemon = try connection.connect()
        let token = try request.acquire(from: &daemon)
        let parameters = ProvePossession.Parameters(
            account: request.account,
            method: dpop[0],
            url: dpop[1],
            accessToken: token.accessToken,
            nonce: dpopNonce
        )
        let proof = try daemon.ask(parameters).proof
        guard token.tokenType.lowercased() == "dpop" else {
            throw .usage(
                "the token of '\(PlainText.line(request.account))' is not bound to a key, so there is no proof for it",
                hint: "'\(Command("token", PlainText.line(request.account)))' prints it without a proof"
            )
        }
        guard AcquiredToken.isPrintable(proof) else { throw .unreadableReply }
        request.warnIfShort(token)
        let text = try token.text(for: request)
        switch request.format {
        case .raw, .xoauth2, .oauthbearer: return text + proof + "\n"
        case .header: return text + "DPoP: \(proof)\n"
        case .headersJSON: return try token.headers(with: proof).text + "\n"
        case .env: return text + "export AUTHREFRESH_DPOP_PROOF='\(proof)'\n"
        case .json: return token.object(with: proof).text + "\n"
        }
    }
}

extension TokenRequest {
    /// Acquires the account's ID token on a connection that can be used afterwards.
    ///
    /// - Returns: also until when the request's holder should keep it, in µs since 1970; nil if the daemon does not say.
    /// - Throws: `unreadableReply` if it is missing, or contains characters that could forge a header.
    func acquireIDToken(
        from daemon: inout DaemonConnection
    ) throws(Report) -> (token: IdToken, heldUntilUSec: Int64?) {
        let reply = try reply(from: &daemon)
        guard let decoded = WireText.decode(AcquireToken.Reply.self, fromText: reply.text),
            let token = decoded.idToken, AcquiredToken.isPrintable(token.token)
        else { throw .unreadableReply }
        warnIfShort(endingAt: token.expiresAtUSec)
        return (token, decoded.heldUntilUSec)
    }
}

/// The printed forms of an account's ID token.
extension IdToken {
    /// The text for standard output, with a newline.
    func text(for request: TokenRequest) -> String {
        switch request.format {
        case .raw, .xoauth2, .oauthbearer: "\(token)\n"
        case .header: "Authorization: Bearer \(token)\n"
        case .headersJSON: JSONText.object([("Authorization", JSONText.quote("Bearer \(token)"))]) + "\n"
        case .json: object + "\n"
        case .env: environment(of: request.account)
        }
    }

    private var object: String {
        JSONText.object([
            ("audiences", JSONText.array(audiences)),
            ("expiresAt", UTCStamp.text(expiresAtUSec).map(JSONText.quote)),
            ("expiresAtUSec", String(expiresAtUSec)),
            ("idToken", JSONText.quote(token)),
            ("nonce", nonce.map(JSONText.quote)),
            ("subject", JSONText.quote(subject)),
        ])
    }

    /// The environment variable, the same as for an access token.
    private func environment(of account: String) -> String {
        AcquiredToken.exports([
            ("AUTHREFRESH_ACCOUNT", account),
            ("AUTHREFRESH_ID_TOKEN", token),
            ("AUTHREFRESH_EXPIRES_AT", String(expiresAtUSec / 1_000_000)),
        ])
    }
}
