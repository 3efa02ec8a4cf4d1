internal import ArgumentParser
internal import AuthRefreshInterface
internal import Glibc

/// The command `authrefreshd`.
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authrefreshd",
        abstract: "Keeps OAuth 2.0 access tokens fresh, and says when a person is needed.",
        discussion: """
            Without systemd it runs in the foreground and logs to standard error. SIGTERM ends it after the answers of the
            refreshes under way are stored; SIGHUP reads the configuration anew. Accounts are managed with authctl.

            Environment: XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_DATA_HOME name other folders than those below, \
            XDG_RUNTIME_DIR the socket's. AUTHREFRESH_SOCKET names another socket, as --socket does. HTTPS_PROXY and \
            NO_PROXY lead requests through a proxy, or past it.

            Files:

              ~/.config/authrefreshd/authrefreshd.yaml        the configuration
              ~/.config/authrefreshd/providers.d              provider profiles of your own
              ~/.local/share/authrefreshd/providers.d         those that systemd/install installed
              /usr/share/authrefreshd/providers.d             those of the distribution's package
              ~/.local/state/authrefreshd/accounts.sqlite     the accounts
              ~/.local/state/authrefreshd/store-key           the key of their secrets
              $XDG_RUNTIME_DIR/authrefreshd/io.authrefresh    the socket

            Exit status: 0 ended in good order, 64 wrong arguments, 69 the socket cannot be had, 71 the system refuses, 75 \
            the disk is full or fails, 77 no key that opens the store, 78 the configuration or the store cannot be used.
            """
    )

    @OptionGroup var options: DaemonOptions

    func run() async throws {
        if options.version { return print(options.verbose ? LinkedLibraries.text : Version.text) }
        do throws(DaemonError) {
            var daemon = try Daemon(options: options)
            if options.check { return print("the configuration and \(daemon.profileCount) provider profiles are good") }
            if let backup = options.restore { return print(try daemon.restore(from: backup)) }
            try await daemon.run()
        } catch {
            Self.tell(error.description, hint: error.hint)
            throw ExitCode(error.exitStatus)
        }
    }

    /// Ends the process with the requested help or version, or with an error.
    static func end(with error: any Error) -> Never {
        guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
        // The argument parser's message, in the format of all our messages.
        let message = message(for: error).split(separator: "\n").first ?? "wrong arguments"
        tell(message.prefix(1).lowercased() + message.dropFirst(), hint: "see 'authrefreshd --help'")
        exit(withError: ExitCode.validationFailure)
    }

    private static func tell(_ message: String, hint: String) {
        let text = "authrefreshd: error: \(message)\nauthrefreshd: hint: \(hint)\n"
        _ = unsafe text.withCString { unsafe write(STDERR_FILENO, $0, strlen($0)) }
    }
}

/// The daemon's command line.
struct DaemonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the configuration from FILE.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Keep the store and its key in DIR.", valueName: "dir"))
    var stateDir: String?

    @Option(help: ArgumentHelp("Listen at PATH, unless systemd passes a socket.", valueName: "path"))
    var socket: String?

    @Flag(help: "Check the configuration and the provider profiles, and end.")
    var check = false

    @Option(
        help: ArgumentHelp(
            "Put the backup FILE in the place of the store, and end; see 'authctl store restore'.",
            valueName: "file"
        )
    )
    var restore: String?

    @Flag(help: "Show the version.")
    var version = false

    @Flag(help: "With --version: list the libraries that are linked in, and their versions.")
    var verbose = false

    func validate() throws {
        guard version || !verbose else { throw ValidationError("'--verbose' goes with '--version'") }
    }
}
