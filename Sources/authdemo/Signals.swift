internal import Dispatch
internal import Glibc

extension AsyncStream<Int32> {
    /// The given signals, which lose their default effect for the rest of the process.
    static func signals(_ numbers: [Int32]) -> AsyncStream<Int32> {
        AsyncStream { continuation in
            for number in numbers {
                // A Dispatch source sees a signal only if it is ignored otherwise.
                _ = signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                // The handler keeps its source alive.
                source.setEventHandler { withExtendedLifetime(source) { _ = continuation.yield(number) } }
                source.activate()
            }
        }
    }
}
