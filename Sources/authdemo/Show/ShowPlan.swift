/// What kind of show is wanted.
struct ShowPlan: Sendable {
    /// Print lines, hurry, and end by itself.
    var isUnattended: Bool
    /// How long access tokens live.
    var lifetime: Duration
    /// The folder of `authrefreshd` and `authctl`.
    var programFolder: String

    /// The limit of what takes no refresh: a program's start or a command. Generous, for a machine that is busy building.
    let stepLimit = Duration.seconds(20)
    /// How long the daemon may take to end: it only has to write what is under way.
    let stopLimit = Duration.seconds(10)

    /// The limit of a step that waits for the next silent refresh, which is due within one lifetime.
    var refreshLimit: Duration { lifetime + stepLimit }

    /// How long a picture stands still before the story goes on.
    var pause: Duration { isUnattended ? .milliseconds(500) : .seconds(6) }
}
