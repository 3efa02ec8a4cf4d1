/// What the daemon as a process is told.
enum DaemonEvent: Sendable {
    case signal(SignalWatch.Signal)
    /// Descriptors for callers have run out, or are there again.
    case descriptors(areLacking: Bool)
    /// What came of trying to open the store.
    case store(StoreOpener.Answer)
}
