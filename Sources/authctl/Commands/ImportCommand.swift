internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// `authctl import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take over accounts from other programs, with their grants.",
        discussion: """
            Examples:

              \(InvokedAs.here) import --dry-run
              \(InvokedAs.here) import --from oidc-agent work
              \(InvokedAs.here) import --from mutt_oauth2 --file ~/.mutt/token --all
              \(InvokedAs.here) import --file token.json

            Finds the accounts that other programs keep. --dry-run shows them in a table and changes nothing.

            Stop the other program first, because a server that detects reuse revokes a grant that two programs use. \
            authctl copies the account's settings and refresh token, and the first refresh shows that they work. If \
            the server says that the grant has ended, the account is removed again. After any other failure it \
            stays, and authctl says what to do. At the end authctl says how to retire the account in the other \
            program.

            On a terminal authctl asks before each account, unless you name accounts or use --all. Without a \
            terminal you must name them or use --all.

            From pizauth only the settings can be taken over, because it keeps its tokens in memory. An account \
            that exists is never replaced; --as chooses another name.

            Exit status: 75 if the other program is still running, or the server does not answer now.
            """
    )

    @Argument(help: "The accounts to take over, by their names in the table.")
    var name: [String] = []

    @Flag(help: "Show what could be taken over, and change nothing.")
    var dryRun = false

    @Flag(help: "Take over every account that is found, without asking.")
    var all = false

    @Option(help: .value("program", "Look only at this program's accounts."))
    var from: SourceProgram?

    @Option(
        help: .value(
            "file",
            "Read this file instead of the program's usual one. Without --from, a JSON file that names its client."
        ),
        completion: .file()
    )
    var file: String?

    @Option(name: .customLong("as"), help: .value("name", "The name of the account here."))
    var newName: String?

    @Option(
        help: .value("file", "A file with the password that oidc-gen needs, instead of asking you."),
        completion: .file()
    )
    var passwordFile: String?

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        guard !all || name.isEmpty else {
            throw .usage(
                "'--all' cannot be combined with the names of accounts",
                hint: "see '\(Command("import", "--help"))'"
            )
        }
        let options = [
            ("--called", InvokedAs.here.name), ("--socket", try SocketPath.resolve(option: connection.socket)),
            ("--from", from?.rawValue), ("--file", file), ("--as", newName), ("--password-file", passwordFile),
        ]
        var words = options.flatMap { option, value in value.map { [option, $0] } ?? [] }
        if output.json { words.append("--json") }
        if dryRun { words.append("--dry-run") }
        if all { words.append("--all") }
        try ProgramBeside.importer.become(words + ["--"] + name)
    }
}

extension SourceProgram: ExpressibleByArgument {}
