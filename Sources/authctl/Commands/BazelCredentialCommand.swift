internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl bazel-credential`, also called `bazel-credential-authctl`.
struct BazelCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bazel-credential",
        abstract: "Give Bazel a token, as its credential helper.",
        discussion: """
            Examples:

              \(InvokedAs.here) account edit work --url https://cache.example.org/

            Bazel then asks for that host with this line in ~/.bazelrc:

              common --credential_helper=cache.example.org=bazel-credential-authctl

            It uses the account whose address covers the longest part of the address that Bazel asks for, and \
            answers with an Authorization header and the time until which Bazel should keep it. For any other \
            address it answers {}, and Bazel sends no header. If Bazel asks again before that time, the server has \
            refused the token. The daemon then gets another one, once a minute for a Bazel server.

            The protocol is that of credential-helper-spec, which other programs use as well.
            """
    )

    @Argument(help: "What Bazel asks for: get.")
    var operation: Operation

    @Flag(help: "Accepted by every command; the answer of this one is always JSON, and so are errors.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    enum Operation: String, CaseIterable, ExpressibleByArgument, Sendable {
        case get
    }

    func run() throws(Report) {
        let input = try StandardInput.toolText()
        guard let document = JSONValue(input), let uri = document["uri"]?.string else {
            throw .toolInput("has no uri")
        }
        var daemon = try connection.connect()
        guard let name = try daemon.account(for: uri)?.name else { return try StandardOutput.write("{}\n") }
        let request = TokenRequest(account: name, socket: connection.socket)
        let token = try ToolToken.kept(for: uri, request, from: &daemon)
        let answer = JSONText.object([
            ("headers", JSONText.object([("Authorization", JSONText.array(["Bearer \(token.secret.reveal())"]))])),
            ("expires", UTCStamp.text(token.heldUntil * 1_000_000).map(JSONText.quote)),
        ])
        try StandardOutput.write(answer + "\n")
    }
}
