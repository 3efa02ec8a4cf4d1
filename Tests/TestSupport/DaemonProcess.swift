/// A real `authrefreshd`, as it was built.
package final class DaemonProcess: Sendable {
    private let program: Program
    private let stage: DaemonStage
    private let firstMessage: Int

    init(stage: DaemonStage, arguments: [String], environment: [String: String]) throws(TestFault) {
        self.stage = stage
        firstMessage = stage.notify.messages.count
        program = try Program("authrefreshd", arguments, environment: environment)
    }

    deinit {
        // A test that failed half-way leaves no daemon behind; to one that has ended this is nothing, as its number is kept
        // from other processes only until it was waited for.
        if program.isRunning { program.signal(9) }
    }

    package var pid: Int32 { program.pid }
    /// The lines of its log so far.
    package var log: EventLog<String> { program.errors }
    package var logText: String { program.errorText }

    /// Waits for `READY=1`.
    ///
    /// - Throws: `failed` if it ended instead, with what it had to say.
    package func ready() async throws {
        async let message: String = stage.notify.messages.first("READY=1", from: firstMessage) { $0.contains("READY=1") }
        let ended = Task { [program] in
            let end = try await program.ended(within: .seconds(60))
            // Whoever waits for it would wait in vain.
            stage.notify.messages.append("READY=1 never: \(end)")
        }
        defer { ended.cancel() }
        if try await message.contains("never") {
            throw TestFault.failed(program: "authrefreshd", status: -1, errors: logText)
        }
    }

    package func signal(_ number: Int32) {
        program.signal(number)
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
    @discardableResult package func ended() async throws -> ProgramEnd {
        try await program.ended()
    }
}
