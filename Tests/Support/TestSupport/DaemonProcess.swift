import Glibc

/// A running `authrefreshd` from this build.
package final class DaemonProcess: Sendable {
    private let program: Program
    private let stage: DaemonStage
    private let firstMessage: Int

    init(
        stage: DaemonStage,
        arguments: [String],
        environment: [String: String],
        listener: Int32?,
        logFile: String?
    ) throws(TestFault) {
        self.stage = stage
        firstMessage = stage.notify.messages.count
        guard let listener else {
            program = try Program("authrefreshd", arguments, environment: environment, errorFile: logFile)
            return
        }
        // The shell's process id is the daemon's.
        let command = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\""
        program = try Program(
            "/bin/sh",
            ["-c", command, Program.products + "/authrefreshd"] + arguments,
            environment: environment,
            passed: [listener],
            errorFile: logFile
        )
    }

    deinit {
        // A test that failed half-way must not leave a daemon behind. A daemon that has ended is not signalled, because
        // its process id may belong to another process by now.
        if program.isRunning { program.signal(9) }
    }

    package var pid: Int32 { program.pid }
    package var isRunning: Bool { program.isRunning }
    /// The lines that it has logged so far.
    package var log: EventLog<String> { program.errors }
    package var logText: String { program.errorText }

    /// Waits for a line in its log. The daemon logs on a thread of its own, so the line may come after its answers and
    /// signals.
    package func says(_ words: String) async throws {
        try await log.first("'\(words)' in the log") { $0.contains(words) }
    }

    /// Waits for `READY=1`.
    ///
    /// - Throws: `failed`, with the standard error, if the daemon ended instead.
    package func ready() async throws {
        let isReady = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [stage, firstMessage] in
                try await stage.notify.messages.first("READY=1", from: firstMessage) { $0.contains("READY=1") }
                return true
            }
            group.addTask { [program] in
                try await program.ended()
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        guard isReady else { throw TestFault.failed(program: "authrefreshd", errors: logText) }
    }

    package func signal(_ number: Int32) {
        program.signal(number)
    }

    /// Sends SIGSTOP and waits until the daemon has stopped. Until then it goes on with what it has begun.
    package func freeze() async throws {
        program.signal(SIGSTOP)
        try await onOwnThread { [pid] in
            guard waitid(P_PID, id_t(pid), nil, WSTOPPED) == 0 else {
                throw TestFault.system("waitid", errno: errno)
            }
        }
    }

    /// Lets the daemon continue after `freeze`.
    package func thaw() {
        program.signal(SIGCONT)
    }

    /// Sends SIGTERM and waits for the end.
    @discardableResult package func terminate() async throws -> ProgramEnd {
        program.signal(15)
        return try await program.ended()
    }

    /// Sends SIGKILL and waits for the end.
    @discardableResult package func kill() async throws -> ProgramEnd {
        program.signal(9)
        return try await program.ended()
    }

    /// Waits until the daemon ends by itself.
    @discardableResult package func ended(within limit: Duration = .patience) async throws -> ProgramEnd {
        try await program.ended(within: limit)
    }
}
