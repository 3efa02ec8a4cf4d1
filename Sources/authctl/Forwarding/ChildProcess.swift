internal import Basics
internal import Glibc

/// A child process on the same terminal.
struct ChildProcess {
    enum State: Equatable {
        case running
        /// Stopped by a signal, as ssh does for `~^Z`.
        case stopped
        /// Ended. The status is the shell's: 128 plus the signal's number if a signal ended it.
        case ended(status: Int32)
    }

    let pid: pid_t

    /// Starts a program from `PATH`.
    ///
    /// - Parameter signals: the signals that it blocks. It does not inherit the blocked and ignored signals of this
    ///   process.
    /// - Throws: why ssh cannot be started.
    init(_ words: [String], blocking signals: sigset_t) throws(Report) {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var (mask, defaults) = (signals, sigset_t())
        unsafe sigemptyset(&defaults)
        for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&defaults, number) }
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let failure = unsafe posix_spawnp(&pid, words[0], nil, &attributes, &arguments, environ)
        guard failure == 0 else {
            let install = Command(program: "sudo", "apt", "install", "openssh-client")
            throw Report(
                status: .misconfigured,
                name: "authctl.CannotStartSSH",
                message: "cannot start 'ssh': \(systemText(failure))",
                hints: ["install OpenSSH's client, for instance: \(install)"]
            )
        }
        self.pid = pid
    }

    /// The current state, without waiting. Do not ask again after the process has ended.
    var state: State {
        var status: Int32 = 0
        guard unsafe waitpid(pid, &status, WNOHANG | WUNTRACED) == pid else { return .running }
        // wait(2): 0x7F marks a stopped process.
        let signal = status & 0x7F
        if signal == 0x7F { return .stopped }
        return .ended(status: signal == 0 ? status >> 8 & 0xFF : 128 + signal)
    }
}
