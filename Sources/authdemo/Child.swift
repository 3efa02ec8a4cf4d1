internal import DemoIssuer
internal import Foundation

/// The real `authrefreshd` or `authctl` as a child process.
struct Child: Sendable {
    private let process = Process()
    private let ends: AsyncStream<Int32>

    /// Starts it with the environment of a stage.
    ///
    /// - Parameters:
    ///   - input: written to its standard input through a pipe, so that a secret appears in no list of processes.
    ///   - output: a `Pipe` or a `FileHandle`, as is `errors`.
    ///   - whenEnded: called once, on a separate thread.
    /// - Throws: if it cannot be started.
    init(
        _ program: String,
        _ arguments: [String] = [],
        on stage: Stage,
        input: String = "",
        output: Any,
        errors: Any,
        whenEnded: @escaping @Sendable (Int32) -> Void = { _ in }
    ) throws(DemoError) {
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self)
        let inputPipe = Pipe()
        self.ends = ends
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = stage.environment
        process.currentDirectoryURL = URL(filePath: stage.folder)
        process.standardInput = inputPipe
        process.standardOutput = output
        process.standardError = errors
        process.terminationHandler = { process in
            let status = process.terminationStatus
            let end = process.terminationReason == .exit ? status : 128 + status
            continuation.yield(end)
            whenEnded(end)
        }
        do {
            try process.runTakingSignals()
        } catch {
            throw DemoError("cannot start '\(program)'")
        }
        // If the program does not read, it has already ended, and its status says why.
        try? inputPipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try? inputPipe.fileHandleForWriting.close()
    }

    /// Waits until it has ended, once. If the task is cancelled, the process is killed.
    ///
    /// - Returns: the exit status; 128 and the signal's number if a signal ended the process, as in a shell.
    func end() async -> Int32 {
        for await end in ends { return end }
        kill()
        return 128 + SIGKILL
    }

    /// Asks it to end.
    func terminate() {
        if process.isRunning { process.terminate() }
    }

    func kill() {
        if process.isRunning { _ = Glibc.kill(process.processIdentifier, SIGKILL) }
    }
}

extension Process {
    /// Starts the process without blocked signals.
    ///
    /// Dispatch and Swift's tasks run on threads that block signals, and a child inherits its thread's mask. SIGTERM
    /// would then have no effect on programs that do not read it from a descriptor. The mask is cleared only during the
    /// start. A Ctrl-C at exactly that moment is lost, and has to be typed again.
    func runTakingSignals() throws {
        var none = sigset_t()
        var previous = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        try run()
    }
}
