internal import ArgumentParser

/// `authdemo run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Show silent refreshes, a withdrawn grant and a new sign-in.",
        discussion: """
            Examples:

              authdemo run
              authdemo run --once --lifetime 5s

            Starts an authorization server and authrefreshd in a temporary folder, and removes the folder at the end. \
            It does not read or change your own files. On a terminal it draws a table in place, and stays until Ctrl-C.

            Exit status: 0 if every step gave the expected result, 1 if a step failed, 130 if it was interrupted \
            before the end.
            """
    )

    @Flag(help: "Show everything once without a pause, print lines, and end.")
    var once = false

    @Option(help: ArgumentHelp("How long access tokens live (default: 20s; with --once: 8s).", valueName: "time"))
    var lifetime: WholeSeconds?

    @Option(
        help: ArgumentHelp("Take authrefreshd and authctl from DIR instead of this program's folder.", valueName: "dir")
    )
    var programs: String?

    /// The shortest lifetime. Each refresh comes at half of it, and people should see the states in between.
    private static let shortestLifetime = WholeSeconds(count: 4)
    /// The longest lifetime. The show takes about three of them.
    private static let longestLifetime = WholeSeconds(count: 3600)

    func validate() throws {
        guard let lifetime else { return }
        guard (Self.shortestLifetime...Self.longestLifetime).contains(lifetime) else {
            throw ValidationError("'--lifetime' must be \(Self.shortestLifetime) to \(Self.longestLifetime)")
        }
    }

    func run() async throws {
        let lifetime = lifetime ?? WholeSeconds(count: once ? 8 : 20)
        let ending = await Show.play(
            ShowPlan(isUnattended: once, lifetime: lifetime.duration, programFolder: programs ?? Programs.ownFolder)
        )
        guard ending == 0 else { throw ExitCode(ending) }
    }
}
