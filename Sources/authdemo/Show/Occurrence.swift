internal import AuthRefreshInterface

/// An event that the show reacts to. All of them come in one stream, one after the other.
enum Occurrence: Sendable {
    /// Time has passed; see `Show.tickInterval`.
    case tick
    case resized
    case signal(Int32)
    case change(Subscribe.Reply)
    case feedEnded(String)
    case daemonEnded(ProcessEnd)
    case commandEnded(AuthctlProcess.Outcome)
    /// The protected resource's HTTP status; nil if it did not answer.
    case resourceAnswered(Int?)
}
