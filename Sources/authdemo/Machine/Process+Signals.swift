internal import Foundation

extension Process {
    /// Starts the process without blocked signals.
    ///
    /// Dispatch and Swift's tasks run on threads that block signals, and a child inherits its thread's mask. SIGTERM
    /// would then have no effect on programs that do not read it from a descriptor. The mask is cleared only during the
    /// start. A Ctrl-C at exactly that moment is lost, and has to be typed again.
    func runTakingSignals() throws {
        var none = sigset_t()
        var previous = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        try run()
    }
}
