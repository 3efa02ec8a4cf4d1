internal import Glibc

/// The signals that the daemon acts on, as they come. The main thread waits for them.
///
/// Not a Dispatch source: between the ignoring that one needs and its registration, which happens later and elsewhere, a signal
/// is lost for good.
enum SignalWatch {
    enum Signal: Int32, CaseIterable, Sendable {
        case hangUp = 1
        case interrupt = 2
        case terminate = 15
    }

    /// All that came since `hold()`; for one reader.
    static var signals: AsyncStream<Signal> { arrivals.stream }
    private static let arrivals = AsyncStream.makeStream(of: Signal.self)

    /// Keeps the signals from their default action, until they are waited for. To be called before there is a second thread: each
    /// one inherits it.
    static func hold() {
        var set = signalSet()
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for signals from now on.
    static func run() -> Never {
        var set = signalSet()
        while true {
            var number: Int32 = 0
            guard unsafe sigwait(&set, &number) == 0, let signal = Signal(rawValue: number) else { continue }
            arrivals.continuation.yield(signal)
        }
    }

    private static func signalSet() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in Signal.allCases { unsafe sigaddset(&set, signal.rawValue) }
        return set
    }
}
