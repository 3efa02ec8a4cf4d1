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
        var pid: pid_t = 0
        let failure = unsafe ProgramRun.start(words, &pid, blocking: signals)
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
