internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the versions of authctl and of the running daemon.",
        discussion: """
            Examples:

              \(InvokedAs.here) version

            '\(InvokedAs.here) --version' prints only authctl's version, without asking the daemon. After an upgrade the \
            running daemon has the older version until it restarts.
            """
    )

    /// The time limit for the daemon's answer, in seconds.
    private static let patience: Int32 = 5

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        let daemon = daemonVersion
        let line = daemon.map { "authrefreshd \(PlainText.line($0))\n" } ?? "authrefreshd: no daemon answers\n"
        try output.print(
            VersionAnswer(authctl: Version.text, authrefreshd: daemon),
            or: "authctl \(Version.text)\n\(line)"
        )
    }

    /// The daemon's version; nil if it does not answer.
    private var daemonVersion: String? {
        guard var daemon = try? connection.connect() else { return nil }
        let asked = GetInfo.Parameters()
        return try? daemon.ask(asked, patience: Self.patience).version
    }
}
