import Foundation
import TestSupport

/// Runs a command on a pseudo-terminal.
struct TerminalRun {
    private let master: Int32
    private let slave: Int32

    /// What to do after something has been shown since the previous step.
    struct Step: Sendable {
        let prompt: String
        let action: @Sendable (TerminalRun) throws -> Void

        /// Types keys.
        static func typing(_ keys: String, at prompt: String) -> Step {
            Step(prompt: prompt) { terminal in
                _ = unsafe write(terminal.master, keys, keys.utf8.count)
            }
        }

        /// Changes the terminal's size. Programs on it get SIGWINCH.
        static func resizing(columns: UInt16, at prompt: String) -> Step {
            Step(prompt: prompt) { $0.resize(columns: columns) }
        }
    }

    init(columns: UInt16 = 80, rows: UInt16 = 24) throws {
        var ends: (master: Int32, slave: Int32) = (-1, -1)
        guard unsafe openpty(&ends.master, &ends.slave, nil, nil, nil) == 0 else { throw POSIXError(.ENODEV) }
        (master, slave) = ends
        // If a command inherited the master, it would keep its own terminal alive.
        for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        resize(columns: columns, rows: rows)
    }

    private func resize(columns: UInt16, rows: UInt16 = 24) {
        // A `winsize`. The type itself belongs to one of two modules, whichever the compiler loads first.
        var size = [rows, columns, 0, 0]
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Everything that the terminal shows until the command has ended.
    func run(_ command: String, in run: CommandRun, _ steps: [Step]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        // setsid makes the terminal the command's /dev/tty.
        process.arguments = ["--foreground", "180", "setsid", "--ctty", "--wait", "/bin/sh", "-c", command]
        process.currentDirectoryURL = run.folder
        process.environment = run.environment
        let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        try startTakingSignals(process)
        // With our end closed, reading ends when the last process of the command has ended.
        close(slave)

        var shown = ""
        var rest = steps[...]
        var seen = shown.startIndex
        var chunk = [UInt8](repeating: 0, count: 4096)
        let end = ContinuousClock.now + .patience
        while .now < end, hasOutput, case let count = unsafe read(master, &chunk, chunk.count), count > 0 {
            shown += String(decoding: chunk[..<count], as: UTF8.self)
            while let step = rest.first, let found = shown[seen...].firstRange(of: step.prompt) {
                seen = found.upperBound
                rest.removeFirst()
                try step.action(self)
            }
        }
        // A program that still waits for a key loses the terminal, and ends by SIGHUP.
        close(master)
        process.waitUntilExit()
        return shown
    }

    /// Whether output or the end has come within the usual time limit.
    private var hasOutput: Bool {
        var interest = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        while true {
            let ready = unsafe poll(&interest, 1, 120_000)
            if ready >= 0 || errno != EINTR { return ready > 0 }
        }
    }

    /// Starts `process` with no signal blocked.
    ///
    /// Tests run on threads that may block signals, and a child inherits the mask of its thread. Ctrl-C would then have
    /// no effect.
    private func startTakingSignals(_ process: Process) throws {
        var none = sigset_t()
        var previous = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        try process.run()
    }
}
