import Foundation

/// Runs a command on a pseudo-terminal of its own.
struct TerminalRun {
    private let master: Int32
    private let slave: Int32

    init() throws {
        var ends: (master: Int32, slave: Int32) = (-1, -1)
        guard unsafe openpty(&ends.master, &ends.slave, nil, nil, nil) == 0 else { throw POSIXError(.ENODEV) }
        (master, slave) = ends
        // A command that inherits the master would keep its own terminal alive.
        for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// All that the terminal shows until the command has ended; `keys` are typed when `prompt` has been shown.
    func run(_ command: String, in run: CommandRun, typing keys: String, at prompt: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        // setsid makes the terminal the one that /dev/tty means.
        process.arguments = ["--foreground", "60", "setsid", "--ctty", "--wait", "/bin/sh", "-c", command]
        process.currentDirectoryURL = run.folder
        process.environment = run.environment
        let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        try startTakingSignals(process)
        // With our end closed, reading ends when the command's last process has.
        close(slave)
        defer { close(master) }

        var shown = ""
        var hasTyped = false
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = unsafe read(master, &chunk, chunk.count), count > 0 {
            shown += String(decoding: chunk[..<count], as: UTF8.self)
            if !hasTyped, shown.contains(prompt) {
                hasTyped = true
                _ = unsafe write(master, keys, keys.utf8.count)
            }
        }
        process.waitUntilExit()
        return shown
    }

    /// Starts `process` with no signal blocked.
    ///
    /// Tests run on threads that may block signals, and a child inherits its thread's mask: Ctrl-C would wait for ever.
    private func startTakingSignals(_ process: Process) throws {
        var none = sigset_t()
        var previous = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        try process.run()
    }
}
