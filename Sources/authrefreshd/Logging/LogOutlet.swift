internal import Dispatch
internal import Synchronization

/// Writes log lines on a queue of its own, in their order.
///
/// A journal that hangs, or a terminal that was stopped, blocks whoever writes to it. Here that is nobody but this queue. Lines wait in
/// a bounded buffer meanwhile; those that do not fit are dropped and counted, and their number is written when the others are through.
final class LogOutlet: Sendable {
    /// Writes one line, and may block.
    typealias Write = @Sendable () -> Void

    private struct State {
        var waiting: [(write: Write, bytes: Int)] = []
        var bytes = 0
        var dropped = 0
        var isWriting = false
    }

    private let bytesMax: Int
    private let writeDropped: @Sendable (Int) -> Void
    private let queue: DispatchQueue
    private let state = Mutex(State())

    /// - Parameters:
    ///   - bytesMax: how much may wait.
    ///   - writeDropped: writes, on the queue, how many lines were dropped.
    init(bytesMax: Int, writeDropped: @escaping @Sendable (Int) -> Void) {
        self.bytesMax = bytesMax
        self.writeDropped = writeDropped
        queue = DispatchQueue(label: "authrefreshd.log")
    }

    /// Has a line written; never blocks.
    ///
    /// - Parameter bytes: how long it is.
    func send(bytes: Int, _ write: @escaping Write) {
        let begins = state.withLock { state in
            guard state.bytes + bytes <= bytesMax else {
                state.dropped += 1
                return false
            }
            state.bytes += bytes
            state.waiting.append((write, bytes))
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { self.writeAll() } }
    }

    /// Returns when everything that was sent until now is written, or when `limit` is over.
    func drain(within limit: Duration) async {
        await queue.drain(within: limit)
    }

    private func writeAll() {
        while true {
            let (lines, dropped) = state.withLock { state in
                let next = (state.waiting, state.waiting.isEmpty ? state.dropped : 0)
                state.waiting = []
                if next.0.isEmpty { state.dropped = 0 }
                state.isWriting = !next.0.isEmpty || next.1 > 0
                return next
            }
            if lines.isEmpty, dropped == 0 { return }
            for line in lines {
                line.write()
                // One that is being written still takes its room: what waits in the kernel is not ours to count.
                state.withLock { $0.bytes -= line.bytes }
            }
            if dropped > 0 { writeDropped(dropped) }
        }
    }
}
