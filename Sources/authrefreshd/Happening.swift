/// What the daemon as a process is told.
enum Happening: Sendable {
    case signal(SignalWatch.Signal)
    /// The store's key, which was locked, may be there now.
    case keyMayBeThere
    /// The session bus is gone.
    case busLost
}
