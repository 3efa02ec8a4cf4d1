internal import AuthRefreshInterface
internal import Basics
internal import DemoIssuer
internal import Dispatch
internal import Foundation
internal import TextEncodings

/// A show with an authorization server, the real daemon and the real `authctl`, which prints a line for each event.
struct Show: Sendable {
    /// How many lines of the daemon's log are shown after a failure.
    private static let logTailLines = 20
    /// How much later than its connections a process may end, in seconds.
    private static let endDelay: UInt32 = 2
    /// How long the daemon may take to end. It only has to store current answers.
    private static let stopLimit = Duration.seconds(10)
    static let account = "demo"
    static let clientID = "authdemo"

    /// Whether to hurry, and to end without a signal.
    let isUnattended: Bool
    /// The lifetime of access tokens.
    let lifetime: Duration
    let stage: Stage
    let issuer: DemoIssuer
    /// The account after each change.
    let states: AsyncStream<AccountStatus>
    private let statesEntry: AsyncStream<AccountStatus>.Continuation
    /// What ends the show early, besides a step that fails and a signal.
    private let failures: AsyncStream<DemoError>
    private let failuresEntry: AsyncStream<DemoError>.Continuation
    private let signals = AsyncStream.signals([SIGINT, SIGTERM, SIGHUP])

    /// Plays a show and cleans up after it.
    ///
    /// - Parameter programs: the folder of `authrefreshd` and `authctl`.
    /// - Returns: the exit status: 0, 1, or the shell's number for a signal; failures have been reported.
    static func play(isUnattended: Bool, lifetime: Duration, programs: String) async -> Int32 {
        do throws(DemoError) {
            let stage = try Stage(programs: programs)
            defer { stage.remove() }
            return await Show(isUnattended: isUnattended, lifetime: lifetime, stage: stage).run()
        } catch {
            error.report()
            return 1
        }
    }

    private init(isUnattended: Bool, lifetime: Duration, stage: Stage) {
        self.isUnattended = isUnattended
        self.lifetime = lifetime
        self.stage = stage
        issuer = DemoIssuer(
            configuration: IssuerConfiguration(
                clients: [DemoClient(id: Self.clientID)],
                policy: GrantPolicy(accessTokenLifetime: lifetime, isRotating: true, detectsReuse: true)
            )
        )
        // Nobody reads them after the story.
        (states, statesEntry) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(100))
        (failures, failuresEntry) = AsyncStream.makeStream()
    }

    private func run() async -> Int32 {
        // If the daemon goes away, that is a failed step, and must not silently end this process.
        _ = signal(SIGPIPE, SIG_IGN)
        do throws(DemoError) {
            let server = try await openServer()
            let daemon = try startDaemon()
            let early = await perform(server)
            let late = await stop(daemon)
            await issuer.shutdown()
            if let failure = early ?? late { throw failure }
            FileHandle.standardOutput.print("The show is over: authrefreshd has ended, \(stage.folder) is removed.\n")
            return 0
        } catch {
            report(error)
            if case .signal(let number) = error.cause { return 128 + number }
            return 1
        }
    }

    /// Tells the story, and then stays open for a viewer, until a signal comes or something that the show needs fails.
    private func perform(_ server: URL) async -> DemoError? {
        await withTaskGroup(of: DemoError?.self) { group in
            group.addTask { await failure { () async throws(DemoError) in try await tellStory(server) } }
            group.addTask {
                for await failure in failures { return failure }
                return nil
            }
            group.addTask {
                for await number in signals { return DemoError("interrupted", .signal(number)) }
                return nil
            }
            defer { group.cancelAll() }
            let end = await group.next() ?? nil
            guard end == nil, !isUnattended else { return end }
            inviteViewer()
            let failed = await group.next() ?? nil
            // A signal is the intended end. The promises must hold until the last moment.
            guard case .signal = failed?.cause else { return failed }
            return await failure { () async throws(DemoError) in try await checkPromises() }
        }
    }

    private func failure(_ part: () async throws(DemoError) -> Void) async -> DemoError? {
        do throws(DemoError) {
            try await part()
            return nil
        } catch {
            return error
        }
    }

    /// Waits for something.
    ///
    /// - Parameters:
    ///   - step: what is waited for, in lower case, for an error.
    ///   - wait: ends at once, with any result, when the task is cancelled.
    /// - Throws: when the show ends early.
    func within<Value>(
        _ limit: Duration,
        _ step: String,
        _ wait: () async -> Value
    ) async throws(DemoError) -> Value {
        let alarm = Task {
            try await Task.sleep(for: limit)
            failuresEntry.yield(DemoError("\(step): not done within \(limit.components.seconds) s", .daemon))
        }
        defer { alarm.cancel() }
        let value = await wait()
        if Task.isCancelled { throw .endsEarly }
        return value
    }

    /// Prints a line.
    ///
    /// - Parameter atUSec: when it happened, in µs since 1970; nil for now.
    func tell(_ mark: Mark, _ text: String, atUSec: Int64? = nil) {
        let time = LocalTime(nowUSec: atUSec ?? LocalTime.now.nowUSec)
        let stamp = time.clock(time.nowUSec, withSeconds: true)
        let words = TerminalStyle.standardOutput.paint("\(mark.rawValue) \(PlainText.line(text))", mark.colour)
        if !FileHandle.standardOutput.print("\(stamp) \(words)\n") { failuresEntry.yield(.cannotWriteOutput) }
    }

    private func startDaemon() throws(DemoError) -> Child {
        tell(.chapter, "authrefreshd is started in \(stage.folder).")
        guard FileManager.default.createFile(atPath: stage.logFile, contents: nil),
            let log = FileHandle(forWritingAtPath: stage.logFile)
        else { throw DemoError("cannot make '\(stage.logFile)'") }
        return try Child(stage.daemon, on: stage, output: log, errors: log) { end in
            failuresEntry.yield(.daemonEnded(end))
        }
    }

    /// Shows the daemon's changes as they come, on a separate thread.
    func followChanges() {
        DispatchQueue(label: "authdemo.changes").async {
            try? receiveChanges()
            // The daemon's end also breaks the subscription, and is the better explanation. It gets some time to be
            // reported.
            sleep(Self.endDelay)
            failuresEntry.yield(DemoError("the subscription to authrefreshd ended", .daemon))
        }
    }

    private func receiveChanges() throws(VarlinkClientError) {
        var connection = try VarlinkConnection(path: stage.socket)
        try connection.send(Subscribe.Parameters(), mode: .more)
        while true {
            let answer: Result<Subscribe.Reply, ErrorReply> = try connection.receive().answer()
            switch answer {
            case .success(let change):
                show(change)
                for status in change.accounts where status.account == Self.account { statesEntry.yield(status) }
            case .failure(let refusal):
                let words = "authrefreshd refuses the subscription with the error '\(refusal.name)'"
                failuresEntry.yield(DemoError(words, .daemon))
                return
            }
        }
    }

    /// Runs `authctl` and shows its output.
    ///
    /// - Parameters:
    ///   - expected: the exit status that the step expects.
    ///   - isSecret: whether its output is shown only as "a token".
    /// - Returns: its output.
    /// - Throws: for any other exit status.
    @discardableResult
    func authctl(
        _ arguments: [String],
        input: String = "",
        expecting expected: Int32 = 0,
        isSecret: Bool = false
    ) async throws(DemoError) -> String {
        let command = "authctl \(arguments.joined(separator: " "))"
        tell(.command, command)
        let (outputPipe, errorPipe) = (Pipe(), Pipe())
        let child = try Child(
            stage.authctl,
            arguments,
            on: stage,
            input: input,
            output: outputPipe,
            errors: errorPipe
        )
        let status = try await within(Self.stepLimit, "running '\(command)'") { await child.end() }
        // Its output fits into a pipe's 64 KiB, so it could wait there until the end.
        let output = Self.text(from: outputPipe)
        guard status == expected else {
            let text = Self.text(from: errorPipe)
            let errors = text.isEmpty ? "" : ":\n\(text)"
            throw DemoError(
                "'\(command)' ended with status \(status), expected status \(expected)\(errors)",
                .daemon
            )
        }
        let lines =
            isSecret ? ["(an access token of \(output.utf8.count - 1) characters)"] : output.split(separator: "\n")
        for line in lines { tell(.answer, String(line)) }
        return output
    }

    private static func text(from pipe: Pipe) -> String {
        let bytes = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Ends the daemon; returns what went wrong.
    private func stop(_ daemon: Child) async -> DemoError? {
        daemon.terminate()
        let alarm = Task {
            try await Task.sleep(for: Self.stopLimit)
            daemon.kill()
        }
        defer { alarm.cancel() }
        let end = await daemon.end()
        let seconds = Self.stopLimit.components.seconds
        return switch end {
        case 0: nil
        case 128 + SIGKILL:
            DemoError("authrefreshd did not end within \(seconds) s of SIGTERM, and was killed", .daemon)
        default: .daemonEnded(end)
        }
    }

    private func report(_ failure: DemoError) {
        failure.report()
        guard failure.cause == .daemon else { return }
        let tail = stage.logTail(lines: Self.logTailLines)
        FileHandle.standardError.print("authdemo: the last lines of authrefreshd's log:\n")
        FileHandle.standardError.print((tail.isEmpty ? ["(empty)"] : tail).map { "  \(PlainText.line($0))\n" }.joined())
    }
}

/// The mark before a line's text. All marks have the same width.
enum Mark: String {
    /// A new part of the story begins.
    case chapter = "──"
    /// A command line that is executed.
    case command = " $"
    /// The output of a command.
    case answer = "  "
    /// A change that the daemon announced.
    case change = " •"
    /// A successful check.
    case proof = " ✓"
    /// The account needs a person.
    case alarm = " !"

    var colour: TerminalStyle.Colour? {
        switch self {
        case .chapter: .bold
        case .command: nil
        case .answer: .faint
        case .change: .cyan
        case .proof: .green
        case .alarm: .red
        }
    }
}

extension DemoError {
    static let cannotWriteOutput = DemoError("cannot write to standard output")
    /// For what is under way when something else ends the show; never shown.
    static let endsEarly = DemoError("the show ends early")

    fileprivate static func daemonEnded(_ end: Int32) -> DemoError {
        DemoError("authrefreshd ended by itself (status \(end))", .daemon)
    }
}
