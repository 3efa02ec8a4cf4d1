internal import AuthRefreshInterface
internal import DemoIssuer
internal import Dispatch
internal import Glibc
internal import Basics

/// A show with an authorization server, the real daemon and the real `authctl`.
struct Show {
    /// How often countdowns are drawn and time limits are checked. Clocks show seconds, and people notice no finer
    /// steps.
    private static let tickInterval = DispatchTimeInterval.milliseconds(250)
    /// How many lines of the daemon's log are shown after a failure.
    private static let logTailLines = 20
    /// How much later than its connections a process may end.
    private static let endDelay = Duration.seconds(2)
    static let account = "demo"
    static let clientID = "authdemo"

    let plan: ShowPlan
    let programs: Programs
    let stage: Stage
    let issuer: DemoIssuer
    /// Adds an event to the stream.
    let announce: @Sendable (Occurrence) -> Void
    private var occurrences: AsyncStream<Occurrence>.Iterator
    var scene = Scene()
    var screen: Screen
    private var daemon: DaemonProcess?
    private var daemonEnd: ProcessEnd?
    private var feedEnd: (end: String, deadline: ContinuousClock.Instant)?
    /// Whether the daemon was asked to stop. Its end is then expected, and a second Ctrl-C changes nothing.
    private var isClosing = false

    /// Plays a show and cleans up after it.
    ///
    /// - Returns: the exit status; failures have been reported.
    static func play(_ plan: ShowPlan) async -> Int32 {
        do throws(DemoError) {
            let programs = try Programs(folder: plan.programFolder)
            var show = Show(plan: plan, programs: programs, stage: try Stage())
            return await show.run()
        } catch {
            StandardError.report(error)
            return error.exitStatus
        }
    }

    private init(plan: ShowPlan, programs: Programs, stage: Stage) {
        self.plan = plan
        self.programs = programs
        self.stage = stage
        issuer = DemoIssuer(
            configuration: IssuerConfiguration(
                clients: [DemoClient(id: Self.clientID)],
                policy: GrantPolicy(accessTokenLifetime: plan.lifetime, isRotating: true, detectsReuse: true)
            )
        )
        let (stream, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        announce = { continuation.yield($0) }
        occurrences = stream.makeAsyncIterator()
        screen = Screen(wantsLines: plan.isUnattended)
    }

    private mutating func run() async -> Int32 {
        // If the daemon goes away, that is a failed step, and must not silently end this process.
        _ = signal(SIGPIPE, SIG_IGN)
        let ticker = startTicker()
        let signals = SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGWINCH])
        let relay = Task { [announce] in
            for await number in signals.signals { announce(number == SIGWINCH ? .resized : .signal(number)) }
        }
        defer {
            relay.cancel()
            ticker.cancel()
            stage.remove()
        }
        var failure: DemoError?
        do throws(DemoError) {
            try await play()
        } catch {
            failure = error
        }
        do throws(DemoError) {
            try await close()
        } catch {
            failure = failure ?? error
        }
        guard let failure else {
            _ = StandardOutput.write("The show is over: authrefreshd has ended, \(stage.folder) is removed.\n")
            return 0
        }
        report(failure)
        return failure.exitStatus
    }

    private func startTicker() -> any DispatchSourceTimer {
        let ticker = DispatchSource.makeTimerSource(queue: .global())
        ticker.schedule(deadline: .now() + Self.tickInterval, repeating: Self.tickInterval)
        ticker.setEventHandler { [announce] in announce(.tick) }
        ticker.activate()
        return ticker
    }

    /// Starts the daemon and waits until it listens.
    mutating func startDaemon() async throws(DemoError) {
        daemon = try DaemonProcess(executable: programs.daemon, stage: stage) { [announce] end in
            announce(.daemonEnded(end))
        }
        let socket = stage.socket
        _ = try await wait(for: (step: "waiting for authrefreshd to listen", limit: plan.stepLimit)) { _ in
            ChangeFeed.isListening(socket) ? true : nil
        }
        ChangeFeed.start(
            socket: socket,
            onChange: { [announce] in announce(.change($0)) },
            whenEnded: { [announce] in announce(.feedEnded($0)) }
        )
    }

    /// Waits for an event for which `found` returns a value. Meanwhile the screen is updated, and a failure ends the
    /// wait.
    ///
    /// - Parameter timed: what is waited for, and how long; nil waits forever.
    /// - Throws: after the limit, or if the daemon, the subscription or the viewer goes away, or if a signal comes.
    mutating func wait<Value>(
        for timed: (step: String, limit: Duration)? = nil,
        until found: (Occurrence) -> Value?
    ) async throws(DemoError) -> Value {
        let deadline = timed.map { ContinuousClock.now + $0.limit }
        while let occurrence = await occurrences.next(isolation: #isolation) {
            try take(occurrence)
            if let value = found(occurrence) { return value }
            if let timed, let deadline, ContinuousClock.now >= deadline {
                throw .tookTooLong(timed.step, timed.limit)
            }
        }
        preconditionFailure("the stream of occurrences is never finished")
    }

    private mutating func take(_ occurrence: Occurrence) throws(DemoError) {
        switch occurrence {
        case .tick:
            screen.draw(scene)
            if let feedEnd, !isClosing, ContinuousClock.now >= feedEnd.deadline {
                throw DemoError("the subscription to authrefreshd ended: \(feedEnd.end)", .daemon)
            }
        case .resized: screen.resize(scene)
        case .change(let change): scene.apply(change).forEach { tell($0) }
        case .signal(let number):
            if !isClosing { throw DemoError("interrupted", .signal(number)) }
        case .daemonEnded(let end):
            daemonEnd = end
            if !isClosing { throw .daemonEnded(end) }
        case .feedEnded(let end):
            // The daemon's end also breaks the subscription, and is the better explanation. It gets some time to be
            // reported.
            feedEnd = (end, ContinuousClock.now + Self.endDelay)
        case .commandEnded, .resourceAnswered: break
        }
        if screen.isBroken, !isClosing { throw .cannotWriteOutput }
    }

    /// Shows a report.
    mutating func tell(_ report: Report) {
        scene.add(report)
        screen.show(report, in: scene)
    }

    /// Ends everything that was started, in reverse order.
    private mutating func close() async throws(DemoError) {
        isClosing = true
        screen.close()
        var failure: DemoError?
        if let daemon, daemonEnd == nil {
            daemon.terminate()
            do throws(DemoError) {
                daemonEnd = try await wait(for: (step: "waiting for authrefreshd to end", limit: plan.stopLimit)) {
                    $0.daemonEnd
                }
            } catch {
                let seconds = plan.stopLimit.components.seconds
                failure = DemoError("authrefreshd did not end within \(seconds) s of SIGTERM, and was killed", .daemon)
                daemon.kill()
                // SIGKILL cannot be ignored. The limit is for a kernel that hangs.
                _ = try? await wait(for: (step: "waiting for authrefreshd to end", limit: plan.stopLimit)) {
                    $0.daemonEnd
                }
            }
        }
        await issuer.shutdown()
        if let failure { throw failure }
        if let daemonEnd, daemonEnd != .status(0), daemon != nil { throw .daemonEnded(daemonEnd) }
    }

    private func report(_ failure: DemoError) {
        StandardError.report(failure)
        guard failure.cause == .daemon else { return }
        let tail = stage.logTail(lines: Self.logTailLines)
        StandardError.write("authdemo: the last lines of authrefreshd's log:\n")
        StandardError.write((tail.isEmpty ? ["(empty)"] : tail).map { "  \(PlainText.line($0))\n" }.joined())
    }
}

extension Occurrence {
    fileprivate var daemonEnd: ProcessEnd? {
        if case .daemonEnded(let end) = self { return end }
        return nil
    }
}

extension DemoError {
    fileprivate static func daemonEnded(_ end: ProcessEnd) -> DemoError {
        DemoError("authrefreshd ended by itself (\(end))", .daemon)
    }

    static let cannotWriteOutput = DemoError("cannot write to standard output")
}
