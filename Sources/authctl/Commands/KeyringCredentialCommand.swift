internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl keyring-credential`, also called `keyring`.
struct KeyringCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyring-credential",
        abstract: "Give pip and uv a token for a package index, as the program 'keyring'.",
        discussion: """
            Examples:

              \(InvokedAs.here) account edit work --url https://pypi.example.org/
              PATH=~/.local/lib/authrefreshd/keyring:$PATH \\
                pip install --keyring-provider subprocess \\
                --index-url https://oauth2accesstoken@pypi.example.org/simple/ PACKAGE

            pip and uv start a program named 'keyring' for the password of an index. The folder \
            lib/authrefreshd/keyring, in ~/.local or /usr, has this command under that name. Put it into PATH only \
            for such a call, because it is no other program's keyring.

            It uses the account whose address covers the longest part of the index's address. The password is the \
            account's token. The user name is the one that pip or uv names, else the account's own ('--username'), \
            its provider profile's, or 'oauth2accesstoken'. If no account matches, it prints nothing, and the exit \
            status is 1. It stores nothing.

            If the same process asks again for the same index, the index has refused the token. The daemon then \
            gets another one, once a minute for a process.
            """
    )

    @Argument(help: "What pip or uv asks for: get. It fails for set and del.")
    var operation: Operation

    @Argument(help: "The address of the index, or its host.")
    var service: String

    @Argument(help: "The user name; may be left out with --mode creds.")
    var username: String?

    @Option(help: .value("mode", "What to print: password, or creds for the user name, too."))
    var mode = Mode.password

    @Option(help: .value("form", "The form: plain or json."))
    var output = Form.plain

    @Flag(help: "Print JSON, as --output json does; errors too.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    enum Operation: String, CaseIterable, ExpressibleByArgument, Sendable {
        case get, set, del
    }

    enum Mode: String, CaseIterable, ExpressibleByArgument, Sendable {
        case password, creds
    }

    enum Form: String, CaseIterable, ExpressibleByArgument, Sendable {
        case plain, json
    }

    func validate() throws {
        guard mode == .creds || username != nil else { throw ValidationError("without '--mode creds' name the user") }
    }

    func run() throws(Report) {
        guard operation == .get else {
            throw .usage("authctl stores no passwords", hint: "give an account the address of the index")
        }
        var daemon = try connection.connect()
        guard let found = try daemon.account(forServer: service, username: username) else {
            throw .reported(.helperFailed)
        }
        let request = TokenRequest(account: found.name, socket: connection.socket)
        let token = try ToolToken.kept(for: service, request, from: &daemon)
        // Google's indexes expect this name.
        let user = mode == .creds ? username ?? found.username ?? "oauth2accesstoken" : nil
        let secret = token.secret.reveal()
        let answer =
            json || output == .json
            ? JSONText.object([("username", user.map(JSONText.quote)), ("password", JSONText.quote(secret))])
            : [user, secret].compactMap(\.self).joined(separator: "\n")
        try StandardOutput.write(answer + "\n")
    }
}
