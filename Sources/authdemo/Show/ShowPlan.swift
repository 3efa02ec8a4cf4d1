/// The options of a show.
struct ShowPlan: Sendable {
    /// Whether to print lines, hurry, and end by itself.
    var isUnattended: Bool
    /// The lifetime of access tokens.
    var lifetime: Duration
    /// The folder of `authrefreshd` and `authctl`.
    var programFolder: String

    /// The time limit of steps without a refresh: starting a program, or running a command. It is generous for a
    /// machine that is busy building.
    let stepLimit = Duration.seconds(20)
    /// How long the daemon may take to end. It only has to store current answers.
    let stopLimit = Duration.seconds(10)

    /// The time limit of a step that waits for the next automatic refresh, which is due within one lifetime.
    var refreshLimit: Duration { lifetime + stepLimit }

    /// How long a picture stays before the story continues.
    var pause: Duration { isUnattended ? .milliseconds(500) : .seconds(6) }
}
