internal import ArgumentParser
internal import Basics
internal import Glibc

/// `authctl exec`.
struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command with a token in its environment.",
        discussion: """
            Examples:

              \(InvokedAs.here) exec work --env GH_TOKEN -- gh pr list
              \(InvokedAs.here) exec work --env API_TOKEN --min-validity 30m -- make deploy
              \(InvokedAs.here) exec work --env TOKEN -- sh -c \\
                'printf "Authorization: Bearer %s\\n" "$TOKEN" | curl -H @- URL'

            Use it for programs that take a token only from an environment variable. The command replaces authctl: \
            you get its exit status, and it gets your signals. If there is no token, the command does not start, \
            and the exit status is that of '\(InvokedAs.here) token'.

            The command and every program that it starts can read the token. The token is not replaced when it \
            expires: if a command runs for long, ask for a longer token with --min-validity. The command writes no \
            core dump.

            Exit status: also 126 if the command cannot be started, 127 if it does not exist.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Option(help: .value("name", "The variable that holds the token."))
    var env: String

    @Option(help: .value("time", "How long the token must still be valid: 60s, 5m, 1h."))
    var minValidity: LengthOfTime?

    @Flag(help: "Use the account's ID token instead of an access token.")
    var idToken = false

    @OptionGroup var target: TokenTargetOptions

    @Flag(help: "Print errors as JSON.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after '--'.")
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("no command is named: put it after '--'") }
        guard Self.isName(env) else {
            throw ValidationError(
                "the name of the variable must consist of letters, digits and _, and not begin with a digit"
            )
        }
        guard !idToken || !target.isGiven else {
            throw ValidationError(
                "'--id-token' cannot be combined with '--scope', '--resource', '--audience' or '--claims'"
            )
        }
    }

    func run() throws(Report) {
        var request = target.request(for: account, minimumValidity: minValidity, socket: connection.socket)
        request.idToken = idToken
        let token = try ToolToken(request)
        unsafe setenv(env, token.secret.reveal(), 1)
        let number = Self.become(command)
        throw Report(
            status: number == ENOENT ? .commandNotFound : .cannotRunCommand,
            name: "authctl.CannotRunCommand",
            message: "cannot start '\(PlainText.line(command[0]))': \(systemText(number))"
        )
    }

    /// POSIX.1-2017, Base Definitions 8.1: the names that every shell accepts.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
            default: false
            }
        }
    }

    /// Replaces this process by the command.
    ///
    /// - Returns: the error number, if that fails.
    static func become(_ words: [String]) -> Int32 {
        // Ignored signals stay ignored across exec, and a filter must be ended by a broken pipe.
        for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_DFL) }
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        unsafe execvp(words[0], &arguments)
        let number = errno
        unsafe arguments.forEach { unsafe free($0) }
        return number
    }
}
