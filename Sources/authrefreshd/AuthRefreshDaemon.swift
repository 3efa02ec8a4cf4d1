internal import ArgumentParser
internal import Glibc

/// `authrefreshd`: build, run, report.
struct AuthRefreshDaemon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authrefreshd",
        abstract: "Keeps OAuth 2.0 access tokens fresh, and says when a person is needed.",
        discussion: """
            Without systemd it runs in the foreground and logs to standard error. SIGTERM ends it after the answers of the
            refreshes under way are stored; SIGHUP reads the configuration anew. Accounts are managed with authctl.
            """,
        version: Version.text
    )

    @OptionGroup var options: DaemonOptions

    func run() async throws {
        do throws(DaemonError) {
            let daemon = try Daemon(options: options)
            if options.check { return print("the configuration and \(daemon.profileCount) provider profiles are good") }
            try await daemon.run()
        } catch {
            let text = "authrefreshd: error: \(error.description)\nauthrefreshd: hint: \(error.hint)\n"
            _ = unsafe text.withCString { unsafe write(STDERR_FILENO, $0, strlen($0)) }
            throw ExitCode(error.exitStatus)
        }
    }
}
