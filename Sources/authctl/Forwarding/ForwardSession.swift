internal import Glibc

/// A run of `authctl forward`: the socket, and `ssh` for another machine. When `ssh` ends, everything ends; without it, a
/// signal ends it.
struct ForwardSession: ~Copyable {
    /// How many µs ssh has to end after a signal that ends this process. A stopped ssh would never end.
    private static let grace: Int64 = 5_000_000

    private let socket: ForwardSocket
    private let relay: TokenRelay
    private let signals: CaughtSignals
    private let ssh: ChildProcess?
    private var endedBy: Int32?

    /// Makes the socket, and starts ssh.
    ///
    /// - Parameters:
    ///   - makeSocket: makes the socket. No signal leaves it behind.
    ///   - words: returns the command line of ssh for the path of the socket; nil for no ssh.
    /// - Throws: what `makeSocket` throws, or why ssh cannot be started; everything is then cleaned up.
    init(
        filter: ForwardedCallFilter,
        connect: @escaping ForwardClient.Connect,
        socket makeSocket: () throws(Report) -> ForwardSocket,
        ssh words: ((_ socket: String) -> [String])?
    ) throws(Report) {
        // Signals are blocked before the socket exists.
        let signals = CaughtSignals(CaughtSignals.ending.filter { !CaughtSignals.isIgnored($0) } + [SIGCHLD])
        let socket = try makeSocket()
        do throws(Report) {
            ssh = try words.map { words throws(Report) in
                try ChildProcess(words(socket.path), blocking: signals.maskBefore)
            }
        } catch {
            socket.remove()
            throw error
        }
        relay = TokenRelay(listener: socket.descriptor, filter: filter, connect: connect)
        self.socket = socket
        self.signals = signals
    }

    /// Serves the other end until ssh has ended, or a signal comes. This process then ends in the same way.
    consuming func run() -> Never {
        while true {
            let isEnding = endedBy != nil
            var ready = isEnding ? [] : relay.interests
            let limit = isEnding ? Self.grace : relay.pauseMicroseconds
            let count = signals.wait(for: &ready, microseconds: limit)
            for signal in signals.take() { follow(signal) }
            if isEnding, count == 0, let ssh { kill(ssh.pid, SIGKILL) }
            if endedBy == nil, count >= 0 { relay.serve(ready[...]) }
        }
    }

    private mutating func follow(_ signal: Int32) {
        guard signal == SIGCHLD else {
            endedBy = endedBy ?? signal
            socket.remove()
            guard let ssh else { Self.end(by: signal) }
            kill(ssh.pid, signal)
            return
        }
        guard let ssh else { return }
        switch ssh.state {
        case .running: break
        case .stopped:
            // The shell that has started us watches only this process.
            kill(getpid(), SIGSTOP)
            kill(ssh.pid, SIGCONT)
        case .ended(let status):
            socket.remove()
            if let endedBy { Self.end(by: endedBy) }
            exit(status)
        }
    }

    private static func end(by signal: Int32) -> Never {
        CaughtSignals.passOn(signal)
        exit(128 + signal)
    }
}
