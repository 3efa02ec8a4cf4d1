internal import Foundation

extension Process {
    /// Starts the process with no signal blocked.
    ///
    /// Dispatch and Swift's tasks run on threads that block signals, and a child inherits its thread's mask: SIGTERM would
    /// wait for ever at any program that does not ask for it by descriptor. The mask is lifted for the moment of the start
    /// only; a Ctrl-C at just that moment is lost, and has to be typed again.
    func runTakingSignals() throws {
        var none = sigset_t()
        var previous = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        try run()
    }
}
