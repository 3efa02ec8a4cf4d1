internal import ArgumentParser
internal import Foundation

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
            It does not read or change your own files. Without --once it stays open until Ctrl-C.

            Exit status: 0 if every step gave the expected result, 1 if a step failed, 130 if it was interrupted \
            before the end.
            """
    )

    @Flag(help: "Show everything once without a pause, and end.")
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
            isUnattended: once,
            lifetime: lifetime.duration,
            programs: programs ?? Self.ownFolder
        )
        guard ending == 0 else { throw ExitCode(ending) }
    }

    /// The folder of this program, where the build also puts the others. It is in the form that the user typed, because
    /// the viewer is told to run a command from there.
    private static var ownFolder: String {
        let name = CommandLine.arguments[0]
        guard !name.contains("/") else {
            return URL(filePath: name).standardizedFileURL.deletingLastPathComponent().path
        }
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? name
        return URL(filePath: path).deletingLastPathComponent().path
    }
}
