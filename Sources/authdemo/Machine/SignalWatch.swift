internal import Dispatch
internal import Glibc

/// The given signals as a stream, instead of their default effect.
final class SignalWatch {
    let signals: AsyncStream<Int32>
    private let sources: [any DispatchSourceSignal]

    init(_ numbers: [Int32]) {
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.signals = signals
        sources = numbers.map { number in
            // A Dispatch source sees a signal only if it is ignored otherwise.
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.activate()
            return source
        }
    }

    deinit {
        sources.forEach { $0.cancel() }
    }
}
