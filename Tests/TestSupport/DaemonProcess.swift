import Glibc

/// A real `authrefreshd`, as it was built.
package final class DaemonProcess: Sendable {
    private let program: Program
    private let stage: DaemonStage
    private let firstMessage: Int

    init(stage: DaemonStage, arguments: [String], environment: [String: String], logFile: String?) throws(TestFault) {
        self.stage = stage
        firstMessage = stage.notify.messages.count
        program = try Program("authrefreshd", arguments, environment: environment, errorFile: logFile)
    }

    deinit {
        // A test that failed half-way leaves no daemon behind. One that has ended is left alone: its number may be
        // another's by now.
        if program.isRunning { program.signal(9) }
    }

    package var pid: Int32 { program.pid }
    package var isRunning: Bool { program.isRunning }
    /// The lines of its log so far.
    package var log: EventLog<String> { program.errors }
    package var logText: String { program.errorText }

    /// Waits for a line of its log; it logs by a thread of its own, later than it answers and announces.
    package func says(_ words: String) async throws {
        try await log.first("'\(words)' in the log") { $0.contains(words) }
    }

    /// Waits for `READY=1`.
    ///
    /// - Throws: `failed` if it ended instead, with what it had to say.
    package func ready() async throws {
        let isReady = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [stage, firstMessage] in
                try await stage.notify.messages.first("READY=1", from: firstMessage) { $0.contains("READY=1") }
                return true
            }
            group.addTask { [program] in
                try await program.ended(within: .seconds(60))
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

    /// SIGSTOP, and the standstill that follows: until then it goes on with what it has begun.
    package func freeze() async throws {
        program.signal(SIGSTOP)
        try await onOwnThread { [pid] in
            guard waitid(P_PID, id_t(pid), nil, WSTOPPED) == 0 else {
                throw TestFault.system("waitid", errno: errno)
            }
        }
    }

    /// Lets it go on after `freeze`.
    package func thaw() {
        program.signal(SIGCONT)
    }

    /// SIGTERM, and the end that follows.
    @discardableResult package func terminate() async throws -> ProgramEnd {
        program.signal(15)
        return try await program.ended(within: .seconds(60))
    }

    /// SIGKILL, and the end that follows.
    @discardableResult package func kill() async throws -> ProgramEnd {
        program.signal(9)
        return try await program.ended()
    }

    /// Waits for it to end by itself.
    @discardableResult package func ended(within limit: Duration = .seconds(30)) async throws -> ProgramEnd {
        try await program.ended(within: limit)
    }
}
