internal import AuthRefreshInterface
internal import DemoIssuer
internal import Dispatch
internal import Glibc
internal import Terminal

/// One show: an authorization server, the real daemon and the real `authctl`, and what happens between them.
struct Show {
    /// How often countdowns are drawn and limits are looked at. A person sees no smaller step of a clock of seconds.
    private static let tickInterval = DispatchTimeInterval.milliseconds(250)
    /// Lines of the daemon's log that a failure shows.
    private static let logTailLines = 20
    /// How long after its connections a process may take to be gone itself.
    private static let endDelay = Duration.seconds(2)
    static let account = "demo"
    static let clientID = "authdemo"

    let plan: ShowPlan
    let programs: Programs
    let stage: Stage
    let issuer: DemoIssuer
    /// Puts an occurrence on the stream.
    let announce: @Sendable (Occurrence) -> Void
    private var occurrences: AsyncStream<Occurrence>.Iterator
    var scene = Scene()
    var screen: Screen
    private var daemon: DaemonProcess?
    private var daemonEnd: ProcessEnd?
    private var feedEnd: (end: FeedEnd, deadline: ContinuousClock.Instant)?
    /// The daemon has been told to stop: its end is expected, and a second Ctrl-C does not hurry it.
    private var isClosing = false

    /// Plays a show from its first to its last step, and cleans up after it.
    ///
    /// - Returns: the exit status; what failed has been reported.
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
        // A daemon that goes away must be a failed step, not our own silent death.
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
        _ = try await wait(for: "waiting for authrefreshd to listen", within: plan.stepLimit) { _ in
            ChangeFeed.isListening(socket) ? true : nil
        }
        ChangeFeed.start(
            socket: socket,
            onChange: { [announce] in announce(.change($0)) },
            whenEnded: { [announce] in announce(.feedEnded($0)) }
        )
    }

    /// Waits for an occurrence that `found` makes something of; meanwhile the screen follows, and a failure ends the wait.
    ///
    /// - Parameter limit: nil waits for ever.
    /// - Throws: `tookTooLong`, `daemonEnded`, `subscriptionEnded`, `interrupted`, `cannotWriteOutput`.
    mutating func wait<Value>(
        for step: String,
        within limit: Duration?,
        until found: (Occurrence) -> Value?
    ) async throws(DemoError) -> Value {
        let deadline = limit.map { ContinuousClock.now + $0 }
        while let occurrence = await occurrences.next(isolation: #isolation) {
            try take(occurrence)
            if let value = found(occurrence) { return value }
            if let limit, let deadline, ContinuousClock.now >= deadline { throw .tookTooLong(step: step, limit: limit) }
        }
        preconditionFailure("the stream of occurrences is never finished")
    }

    private mutating func take(_ occurrence: Occurrence) throws(DemoError) {
        switch occurrence {
        case .tick:
            screen.draw(scene)
            if let feedEnd, !isClosing, ContinuousClock.now >= feedEnd.deadline {
                throw .subscriptionEnded(feedEnd.end)
            }
        case .resized: screen.resize(scene)
        case .change(let change): scene.apply(change).forEach { tell($0) }
        case .signal(let number):
            if !isClosing { throw .interrupted(signal: number) }
        case .daemonEnded(let end):
            daemonEnd = end
            if !isClosing { throw .daemonEnded(end) }
        case .feedEnded(let end):
            // The daemon's end breaks the subscription, too, and says more: it is given time to be heard of.
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

    /// Ends what was started, in the opposite order.
    private mutating func close() async throws(DemoError) {
        isClosing = true
        screen.close()
        var failure: DemoError?
        if let daemon, daemonEnd == nil {
            daemon.terminate()
            do throws(DemoError) {
                daemonEnd = try await wait(for: "", within: plan.stopLimit) { $0.daemonEnd }
            } catch {
                failure = .daemonDidNotStop(limit: plan.stopLimit)
                daemon.kill()
                // SIGKILL cannot be refused; the limit is for a kernel that is stuck.
                _ = try? await wait(for: "", within: plan.stopLimit) { $0.daemonEnd }
            }
        }
        await issuer.shutdown()
        if let failure { throw failure }
        if let daemonEnd, daemonEnd != .status(0), daemon != nil { throw .daemonEnded(daemonEnd) }
    }

    private func report(_ failure: DemoError) {
        StandardError.report(failure)
        guard failure.isAboutDaemon else { return }
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
