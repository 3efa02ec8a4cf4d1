internal import Glibc

/// A run of `authctl forward`: the socket and `ssh`. When `ssh` ends, everything ends.
struct ForwardSession: ~Copyable {
    /// How the session has ended.
    enum End: Equatable {
        case exited(Int32)
        /// A signal to this process ended it.
        case signalled(Int32)
    }

    /// How many µs ssh has to end after a signal that ends this process. A stopped ssh would never end.
    private static let grace: Int64 = 5_000_000

    private let socket: ForwardSocket
    private let relay: TokenRelay
    private let signals: CaughtSignals
    private let ssh: ChildProcess
    private var endedBy: Int32?

    /// Starts ssh.
    ///
    /// - Parameters:
    ///   - host: the other machine, as the person named it.
    ///   - words: returns the command line for the path of the local socket.
    /// - Throws: `cannotCreateFile`, or why ssh cannot be started; everything is then cleaned up.
    init(
        accounts: [ForwardedAccount],
        host: String,
        folders: [String],
        connect: @escaping ForwardClient.Connect,
        ssh words: (_ socket: String) -> [String]
    ) throws(Report) {
        // Signals are blocked before the socket exists, so that no signal leaves the socket behind.
        let signals = CaughtSignals(CaughtSignals.ending.filter { !CaughtSignals.isIgnored($0) } + [SIGCHLD])
        let socket = try ForwardSocket(in: folders)
        do throws(Report) {
            ssh = try ChildProcess(words(socket.path), blocking: signals.maskBefore)
        } catch {
            socket.remove()
            throw error
        }
        relay = TokenRelay(listener: socket.descriptor, accounts: accounts, host: host, connect: connect)
        self.socket = socket
        self.signals = signals
    }

    /// Serves the other machine until ssh has ended.
    consuming func run() -> End {
        while true {
            let isEnding = endedBy != nil
            var ready = isEnding ? [] : relay.interests
            let limit = isEnding ? Self.grace : relay.pauseMicroseconds
            let count = signals.wait(for: &ready, microseconds: limit)
            for signal in signals.take() {
                if let end = follow(signal) { return end }
            }
            if isEnding, count == 0 { kill(ssh.pid, SIGKILL) }
            if endedBy == nil, count >= 0 { relay.serve(ready[...]) }
        }
    }

    private mutating func follow(_ signal: Int32) -> End? {
        guard signal == SIGCHLD else {
            endedBy = endedBy ?? signal
            socket.remove()
            kill(ssh.pid, signal)
            return nil
        }
        switch ssh.state {
        case .running: break
        case .stopped:
            // The shell that has started us watches only this process.
            kill(getpid(), SIGSTOP)
            kill(ssh.pid, SIGCONT)
        case .ended(let status):
            socket.remove()
            return endedBy.map { .signalled($0) } ?? .exited(status)
        }
        return nil
    }

    /// Ends this process in the same way as its child.
    static func finish(_ end: End) -> Never {
        switch end {
        case .exited(let status): exit(status)
        case .signalled(let number):
            CaughtSignals.passOn(number)
            exit(128 + number)
        }
    }
}
