internal import AuthRefreshInterface

/// Something that the show reacts to. All of them come on one stream, so that nothing happens at the same time.
enum Occurrence: Sendable {
    /// Time has passed; see `Show.tickInterval`.
    case tick
    case resized
    case signal(Int32)
    case change(Subscribe.Reply)
    case feedEnded(FeedEnd)
    case daemonEnded(ProcessEnd)
    case commandEnded(AuthctlProcess.Outcome)
    /// The protected resource's HTTP status; nil: no answer.
    case resourceAnswered(Int?)
}
