internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// The command `authrefreshd`.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authrefreshd",
        abstract: "Keeps OAuth 2.0 access tokens fresh, and tells you when you have to sign in.",
        discussion: """
            Examples:

              authrefreshd --check
              systemctl --user status authrefreshd

            Without systemd it runs in the foreground and logs to standard error. On SIGTERM it stores the answers to \
            running refreshes, and exits. On SIGHUP it reloads the configuration. Manage accounts with authctl.

            Environment: XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_DATA_HOME replace the folders ~/.config, ~/.local/state \
            and ~/.local/share below. AUTHREFRESH_SOCKET names another socket, as --socket does. HTTPS_PROXY or \
            ALL_PROXY names a proxy for requests, and NO_PROXY the hosts that are reached without it; the configuration \
            can name both, too.

            Files:

              ~/.config/authrefreshd/authrefreshd.yaml      the configuration
              ~/.config/authrefreshd/providers.d            your own provider profiles
              ~/.local/share/authrefreshd/providers.d       those of systemd/install
              /usr/share/authrefreshd/providers.d           those of the package
              ~/.local/state/authrefreshd/accounts.sqlite   the accounts
              ~/.local/state/authrefreshd/store-key         the key of their secrets
              $XDG_RUNTIME_DIR/authrefreshd/io.authrefresh  the socket

            Exit status: 0 clean shutdown, 64 wrong arguments, 69 socket unavailable, 71 operating system error, 75 disk \
            full or failing, or another store in place of the open one, 77 no key that opens the store, 78 the configuration or the \
            store cannot be used.
            """
    )

    @OptionGroup var options: DaemonOptions

    func run() async throws {
        if options.version { return print(options.verbose ? LinkedLibraries.text : Version.text) }
        do throws(ProgramError) {
            var daemon = try Daemon(options: options)
            if options.check {
                let count = daemon.profileCount
                let profiles = count == 1 ? "is 1 provider profile" : "are \(count) provider profiles"
                return print("the configuration is valid, and so \(profiles)")
            }
            if let backup = options.restore { return print(try daemon.restore(from: backup)) }
            try await daemon.run()
        } catch {
            Self.tell(error.message, hint: error.hint)
            throw ExitCode(error.status.rawValue)
        }
    }

    /// Ends the process with the requested help or version, or with an error.
    static func end(with error: any Error) -> Never {
        guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
        // The argument parser's message, in the format of all our messages.
        let message = message(for: error).split(separator: "\n").first ?? "wrong arguments"
        tell(
            message.prefix(1).lowercased() + message.dropFirst(),
            hint: "see '\(Command(program: "authrefreshd", "--help"))'"
        )
        exit(withError: ExitCode.validationFailure)
    }

    private static func tell(_ message: String, hint: Hint?) {
        let hint = hint.map { "authrefreshd: hint: \($0.text)\n" } ?? ""
        write("authrefreshd: error: \(message)\n\(hint)")
    }

    static func warn(_ message: String) {
        write("authrefreshd: warning: \(message)\n")
    }

    private static func write(_ text: String) {
        _ = unsafe text.withCString { unsafe Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}

/// The daemon's command line.
struct DaemonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the configuration from FILE.", valueName: "file"), completion: .file())
    var config: String?

    @Option(help: ArgumentHelp("Keep the store and its key in DIR.", valueName: "dir"), completion: .directory)
    var stateDir: String?

    @Option(
        help: ArgumentHelp("Listen at PATH, unless systemd passes a socket.", valueName: "path"),
        completion: .file()
    )
    var socket: String?

    @Flag(help: "Check the configuration and the provider profiles, then exit.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Replace the store with the backup FILE, then exit; see 'authctl store restore'.",
            valueName: "file"
        ),
        completion: .file()
    )
    var restore: String?

    @Flag(help: "Show the version.")
    var version = false

    @Flag(help: "With --version: list the linked libraries and their versions.")
    var verbose = false

    func validate() throws {
        guard version || !verbose else { throw ValidationError("'--verbose' needs '--version'") }
    }
}
