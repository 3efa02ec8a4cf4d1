/// What the daemon as a process is told.
enum Happening: Sendable {
    case signal(SignalWatch.Signal)
    /// What came of trying to open the store.
    case store(KeyWait.Answer)
}
