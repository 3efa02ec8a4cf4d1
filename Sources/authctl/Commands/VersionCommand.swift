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
        var versions = ["authctl": Version.text]
        if var daemon = try? connection.connect() {
            versions["authrefreshd"] = try? daemon.ask(GetInfo.Parameters(), patience: Self.patience).version
        }
        let daemon = versions["authrefreshd"].map { "authrefreshd \(PlainText.line($0))" }
        try output.print(versions, or: "authctl \(Version.text)\n\(daemon ?? "authrefreshd: no daemon answers")\n")
    }
}
