internal import Dispatch
internal import Glibc

/// The signals that the daemon acts on, as they come.
final class SignalWatch {
    enum Signal: Int32, CaseIterable, Sendable {
        case hangUp = 1
        case interrupt = 2
        case terminate = 15
    }

    private let sources: [any DispatchSourceSignal]

    /// Takes the signals from now on; their default action is off.
    init(_ onSignal: @escaping @Sendable (Signal) -> Void) {
        let queue = DispatchQueue(label: "authrefreshd.signals")
        sources = Signal.allCases.map { signal in
            // A Dispatch source sees a signal only if nothing else acts on it.
            Glibc.signal(signal.rawValue, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: signal.rawValue, queue: queue)
            source.setEventHandler { onSignal(signal) }
            source.activate()
            return source
        }
    }

    deinit {
        sources.forEach { $0.cancel() }
    }
}
