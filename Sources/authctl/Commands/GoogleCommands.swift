internal import ArgumentParser
internal import Basics
internal import TextEncodings

/// `authctl google-executable`.
struct GoogleExecutableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "google-executable",
        abstract: "Give Google's client libraries a token (workload and workforce identity federation).",
        discussion: """
            Examples:

              \(InvokedAs.here) google-executable work

            Google's libraries run this command by themselves when they use the file that '\(InvokedAs.here) google-config' \
            prints, and GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 is set. It prints the account's ID token as \
            the answer of an executable-sourced credential. A failure is printed as such an answer, too, with exit \
            status 0, because the libraries show the message only then.

            It never asks anything on the terminal, and writes no file, because the daemon keeps the token.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Flag(help: "Print the access token instead of the ID token; it must be a JWT.")
    var useAccessToken = false

    @Flag(help: "Accepted by every command; the answer of this one is always JSON.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        try StandardOutput.write(answer + "\n")
    }

    private var answer: String {
        do throws(Report) {
            let type = try GoogleTokenType.asked(by: environmentValue("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE"))
            let request = TokenRequest(account: account, idToken: !useAccessToken, socket: connection.socket)
            let token = try ToolToken(request)
            return JSONText.object([
                ("version", "1"), ("success", "true"),
                ("token_type", JSONText.quote((type ?? (useAccessToken ? .jwt : .idToken)).rawValue)),
                ("expiration_time", String(token.expiresAt)), ("id_token", JSONText.quote(token.secret.reveal())),
            ])
        } catch {
            return JSONText.object([
                ("version", "1"), ("success", "false"), ("code", JSONText.quote(error.name)),
                ("message", JSONText.quote(error.line)),
            ])
        }
    }
}

/// The types of our tokens that Google's executable-sourced credentials support.
enum GoogleTokenType: String, CaseIterable, Sendable {
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
    case jwt = "urn:ietf:params:oauth:token-type:jwt"

    /// The type that Google's library requests; nil if it requests none.
    ///
    /// - Parameter name: `GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE`; nil if it is not set.
    /// - Throws: `document` for a type that no account has.
    static func asked(by name: String?) throws(Report) -> GoogleTokenType? {
        guard let name else { return nil }
        guard let type = GoogleTokenType(rawValue: name) else {
            throw .document(
                "no account has tokens of the type '\(name)'",
                hint: "'subject_token_type' in the credential file must be \(idToken.rawValue)"
            )
        }
        return type
    }
}

/// `authctl google-config`.
struct GoogleConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "google-config",
        abstract: "Print a credential file that makes Google's client libraries use an account.",
        discussion: """
            Examples:

              \(InvokedAs.here) google-config work --audience //iam.googleapis.com/projects/\\
            1234/locations/global/workloadIdentityPools/POOL/providers/PROVIDER > g.json
              export GOOGLE_APPLICATION_CREDENTIALS=$PWD/g.json
              export GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1

            Name the file in GOOGLE_APPLICATION_CREDENTIALS. It contains no secret. It makes the libraries call \
            '\(InvokedAs.here) google-executable' for a token, and exchange this token at Google's Security Token Service.

            --audience is the full name of the provider in a workload or workforce identity pool. The pool decides \
            what the account may do; with --service-account it acts as that service account.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Option(help: .value("name", "The pool's provider: //iam.googleapis.com/..."))
    var audience: String

    @Option(help: .value("email", "The service account to act as."))
    var serviceAccount: String?

    @Option(help: .value("project", "The project that is charged for the use of a workforce pool."))
    var userProject: String?

    @Flag(help: "Use the access token instead of the ID token; it must be a JWT.")
    var useAccessToken = false

    @Flag(help: "Accepted by every command; the answer of this one is always JSON.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    /// The time limit in ms, enough for a refresh. Google's libraries accept 5,000 to 120,000.
    private static let patience = Int(DaemonConnection.refreshPatience) * 1000

    func validate() throws {
        guard audience.hasPrefix("//iam.googleapis.com/"), audience.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw ValidationError("'--audience' must begin with //iam.googleapis.com/ and name a pool's provider")
        }
        let isEmail = serviceAccount?.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") } ?? true
        guard isEmail, serviceAccount?.contains("@") ?? true else {
            throw ValidationError("'--service-account' takes the service account's e-mail address")
        }
    }

    func run() throws(Report) {
        var daemon = try connection.connect()
        // If the account does not exist, fail and print nothing.
        _ = try daemon.allSettings(accounts: [account])
        let words =
            [Surroundings.real.program, "google-executable", account]
            + (useAccessToken ? ["--use-access-token"] : []) + (connection.socket.map { ["--socket", $0] } ?? [])
        if let word = words.first(where: { $0.contains { $0.isWhitespace || $0 == "\"" || $0 == "'" || $0 == "\\" } }) {
            throw .usage(
                "Google's libraries cannot start a command with '\(word)' in it: they split it at blanks",
                hint: "use a path without blanks and quotes: a link to authctl, or a shorter --socket"
            )
        }
        let type: GoogleTokenType = useAccessToken ? .jwt : .idToken
        let executable = JSONText.object([
            ("command", JSONText.quote(words.joined(separator: " "))), ("timeout_millis", String(Self.patience)),
        ])
        let document = JSONText.object([
            ("type", JSONText.quote("external_account")), ("audience", JSONText.quote(audience)),
            ("subject_token_type", JSONText.quote(type.rawValue)),
            ("token_url", JSONText.quote("https://sts.googleapis.com/v1/token")),
            ("service_account_impersonation_url", serviceAccount.map { JSONText.quote(Self.impersonation(of: $0)) }),
            ("workforce_pool_user_project", userProject.map(JSONText.quote)),
            ("credential_source", JSONText.object([("executable", executable)])),
        ])
        try StandardOutput.write(document + "\n")
    }

    private static func impersonation(of email: String) -> String {
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/\(email):generateAccessToken"
    }
}
