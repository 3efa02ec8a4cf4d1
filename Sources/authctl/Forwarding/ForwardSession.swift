internal import Glibc

internal import CLinux

/// A run of `authctl forward`: the socket and `ssh`. When `ssh` ends, everything ends.
struct ForwardSession {
    /// How the session has ended.
    enum End: Equatable {
        case exited(Int32)
        /// A signal to this process ended it.
        case signalled(Int32)
    }

    /// The signals that end this process, unless the caller has set them to be ignored.
    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// How long ssh has to end after such a signal. A stopped ssh would never end.
    private static let graceMilliseconds: Int32 = 5_000

    private let socket: ForwardSocket
    private let relay: TokenRelay
    private let signals: SignalDescriptor
    private let ssh: ChildProcess
    private var endedBy: Int32?

    /// Starts ssh.
    ///
    /// - Parameters:
    ///   - host: the other machine, as the person named it.
    ///   - words: returns the command line for the path of the local socket.
    /// - Throws: `cannotCreateFile`, `cannotStartSSH`; everything is then cleaned up.
    init(
        accounts: [String],
        host: String,
        folders: [String],
        connect: @escaping ForwardClient.Connect,
        ssh words: (_ socket: String) -> [String]
    ) throws(AuthctlError) {
        // Signals are blocked before the socket exists, so that no signal leaves the socket behind.
        signals = SignalDescriptor(Self.ending + [SIGCHLD])
        socket = try ForwardSocket(in: folders)
        relay = TokenRelay(listener: socket.descriptor, accounts: accounts, host: host, connect: connect)
        do throws(AuthctlError) {
            ssh = try ChildProcess(words(socket.path), blocking: signals.blockedBefore)
        } catch {
            socket.remove()
            throw error
        }
    }

    /// Serves the other machine until ssh has ended.
    mutating func run() -> End {
        while true {
            var ready = [pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)]
            if endedBy == nil { ready += relay.interests }
            let count = unsafe poll(&ready, nfds_t(ready.count), endedBy == nil ? -1 : Self.graceMilliseconds)
            if count == 0 { kill(ssh.pid, SIGKILL) }
            guard count > 0 else { continue }
            if ready[0].revents != 0, let end = follow(signals.next()) { return end }
            if ready.count > 1 { relay.serve(ready.dropFirst()) }
        }
    }

    private mutating func follow(_ signal: Int32?) -> End? {
        guard let signal else { return nil }
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
    func finish(_ end: End) -> Never {
        switch end {
        case .exited(let status): exit(status)
        case .signalled(let number):
            signals.release()
            _ = signal(number, SIG_DFL)
            raise(number)
            exit(128 + number)
        }
    }
}

/// Signals that are read like input and interrupt nothing.
struct SignalDescriptor {
    let descriptor: Int32
    /// The signals that were blocked before.
    let blockedBefore: sigset_t

    /// Blocks the signals. Ignored signals are not reported, except SIGCHLD.
    init(_ numbers: [Int32]) {
        _ = signal(SIGCHLD, SIG_DFL)
        var (wanted, before) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&wanted)
        for number in numbers { unsafe sigaddset(&wanted, number) }
        unsafe sigprocmask(SIG_BLOCK, &wanted, &before)
        blockedBefore = before
        descriptor = unsafe signalfd(-1, &wanted, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    }

    /// The next signal; nil if none has arrived.
    func next() -> Int32? {
        var signal = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard unsafe read(descriptor, &signal, size) == size else { return nil }
        return Int32(signal.ssi_signo)
    }

    /// Restores the usual effect of the signals.
    func release() {
        var before = blockedBefore
        unsafe sigprocmask(SIG_SETMASK, &before, nil)
    }
}
