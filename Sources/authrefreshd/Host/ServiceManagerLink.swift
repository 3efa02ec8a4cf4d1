internal import Dispatch
internal import Glibc
internal import RefreshCore
internal import Synchronization
internal import Systemd

/// Reports to the service manager that the daemon is ready and alive, and the state of its accounts.
final class ServiceManagerLink {
    private let notifier: ServiceNotifier
    private let news: ManagerNews
    private let watchdog: Watchdog
    /// The watchdog's timer; nil until the first `ready`. Dispatch traps if a timer is released that never started, as
    /// would happen in a failed start.
    private var timer: (any DispatchSourceTimer)?
    /// Nil once the daemon is ready or stops, and without a service manager.
    private var start: LongStart?

    /// Creates the link, and with a service manager begins to prolong the start.
    ///
    /// - Parameter loops: the daemon counts as alive if all of them run.
    init(notifier: ServiceNotifier, loops: [Watchdog.Loop]) {
        self.notifier = notifier
        let news = ManagerNews { $0.tell(notifier) }
        self.news = news
        watchdog = Watchdog(loops) { news.add(.alive) }
        start = notifier.isConnected ? LongStart(until: { SignalWatch.hasStopArrived }) { news.add(.starting) } : nil
    }

    /// Sends READY=1, and serves the watchdog from now on.
    func ready(status: String) {
        start = nil
        news.add(.ready(status))
        if timer == nil { timer = startWatchdog() }
    }

    /// Adds a loop that has to run for the daemon to count as alive.
    func watch(_ loop: Watchdog.Loop) {
        watchdog.watch(loop)
    }

    func reloading() {
        news.add(.reloading)
    }

    func stopping() {
        // The manager's limit for the end holds.
        start = nil
        news.add(.stopping)
    }

    /// Returns a function that replaces the status line by the coordinator's. Call the function on the coordinator's
    /// queue.
    func statusChanged(of coordinator: RefreshCoordinator) -> @Sendable () -> Void {
        { [news, weak coordinator] in
            guard let coordinator else { return }
            news.add(.status(coordinator.assumeIsolated { $0.statusLine }))
        }
    }

    /// Returns when everything was delivered to the manager, or after `limit`.
    func drain(within limit: Duration) async {
        await news.drain(within: limit)
    }

    private func startWatchdog() -> (any DispatchSourceTimer)? {
        guard let interval = notifier.watchdogInterval else { return nil }
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "authrefreshd.watchdog"))
        let half = DispatchTimeInterval.microseconds(Int(interval.microseconds / 2))
        timer.schedule(
            deadline: .now() + half,
            repeating: half,
            leeway: .microseconds(Int(interval.microseconds / 20))
        )
        timer.setEventHandler { [watchdog] in watchdog.ask() }
        timer.activate()
        return timer
    }
}

/// Keeps the service manager from ending a start that takes long. After an upgrade, rewriting a store with a million
/// accounts on a slow disk may take minutes. If the manager ended the daemon at the time limit for starts, each start
/// would rewrite the store from the beginning.
final class LongStart {
    /// How often the manager is asked to wait, and for how long each time.
    static let interval = Duration.seconds(10)
    static let prolongation = Duration.seconds(30)
    /// When the manager's own limit applies again, because the start hangs.
    static let longest = Duration.seconds(1800)

    private let source: any DispatchSourceTimer

    /// Calls `ask` after each interval until it is released, for at most `longest`.
    ///
    /// - Parameter isOver: whether the daemon is to end, for whose end the manager has a limit of its own.
    init(
        every interval: Duration = interval,
        for longest: Duration = longest,
        until isOver: @escaping @Sendable () -> Bool,
        ask: @escaping @Sendable () -> Void
    ) {
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "authrefreshd.start"))
        let interval = DispatchTimeInterval.microseconds(Int(interval.microseconds))
        source.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(10))
        let end = DispatchTime.now() + .microseconds(Int(longest.microseconds))
        source.setEventHandler { if DispatchTime.now() < end, !isOver() { ask() } else { source.cancel() } }
        source.activate()
        self.source = source
    }

    deinit {
        source.cancel()
    }
}

/// Asks every loop of the daemon a question, and reports when all have answered, because then all of them run.
///
/// In each loop, the question waits behind the loop's other work. A loop that hangs never answers, and is not asked
/// again. A loop that waits for something outside of the daemon counts as one that has answered, as long as it waits:
/// a slow disk is no reason to end a daemon that holds answers of servers in memory.
final class Watchdog: Sendable {
    /// A loop that has to run.
    struct Loop: Sendable {
        /// Calls `answer` on the loop, after its earlier work.
        let ask: @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void
        /// Whether the loop waits for something outside of the daemon. May be called on any thread.
        var isWaiting: @Sendable () -> Bool = { false }
    }

    private struct State {
        var loops: [Loop]
        /// The loops that have not answered their last question.
        var silent: Set<Int> = []

        /// Whether all loops run or wait.
        var areAllWell: Bool { silent.allSatisfy { loops[$0].isWaiting() } }
    }

    private let state: Mutex<State>
    private let allTurn: @Sendable () -> Void

    /// Creates a watchdog.
    ///
    /// - Parameter allTurn: called on the loop that answers last.
    init(_ loops: [Loop], allTurn: @escaping @Sendable () -> Void) {
        state = Mutex(State(loops: loops))
        self.allTurn = allTurn
    }

    /// Adds a loop, beginning with the next question.
    func watch(_ loop: Loop) {
        state.withLock { $0.loops.append(loop) }
    }

    /// Asks all loops that have answered, unless another one hangs.
    func ask() {
        let asked = state.withLock { state -> [(number: Int, loop: Loop)] in
            guard state.areAllWell else { return [] }
            let free = state.loops.indices.filter { !state.silent.contains($0) }
            state.silent.formUnion(free)
            return free.map { ($0, state.loops[$0]) }
        }
        for (number, loop) in asked { loop.ask { self.answered(number) } }
    }

    private func answered(_ number: Int) {
        let isLast = state.withLock { state in
            state.silent.remove(number)
            return state.areAllWell
        }
        if isLast { allTurn() }
    }
}

/// The news for the service manager, on its own queue. A manager that does not read blocks its sender (sd_notify(3)).
///
/// Of each kind of news only the latest waits, so there are never more than six.
final class ManagerNews: Sendable {
    enum Item: Sendable {
        case ready(String)
        case status(String)
        case reloading
        case stopping
        case alive
        /// The start continues.
        case starting

        func tell(_ notifier: ServiceNotifier) {
            switch self {
            case .ready(let status): notifier.ready(status: status)
            case .status(let status): notifier.status(status)
            case .reloading: notifier.reloading()
            case .stopping: notifier.stopping()
            case .alive: notifier.watchdog()
            case .starting: notifier.extendTimeout(by: LongStart.prolongation)
            }
        }

        /// Whether `next` replaces this item.
        fileprivate func isOutdated(by next: Item) -> Bool {
            switch (self, next) {
            case (.ready, .ready), (.status, .status), (.status, .ready), (.reloading, .reloading),
                (.stopping, .stopping), (.alive, .alive), (.starting, .starting), (.starting, .ready):
                true
            case (.ready, _), (.status, _), (.reloading, _), (.stopping, _), (.alive, _), (.starting, _): false
            }
        }
    }

    private struct State {
        var waiting: [Item] = []
        var isTelling = false
    }

    private let tell: @Sendable (Item) -> Void
    private let queue = DispatchQueue(label: "authrefreshd.manager")
    private let state = Mutex(State())

    /// Creates an empty queue of news.
    ///
    /// - Parameter tell: delivers one item; it may block.
    init(tell: @escaping @Sendable (Item) -> Void) {
        self.tell = tell
    }

    /// Adds an item after the waiting ones. It never blocks.
    func add(_ item: Item) {
        let begins = state.withLock { state in
            state.waiting.removeAll { $0.isOutdated(by: item) }
            state.waiting.append(item)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        if begins { queue.async { self.tellAll() } }
    }

    /// Returns when everything added so far was delivered, or after `limit`.
    func drain(within limit: Duration) async {
        await queue.drain(within: limit)
    }

    private func tellAll() {
        while let item = next() { tell(item) }
    }

    private func next() -> Item? {
        state.withLock { state in
            state.isTelling = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }
}

/// The signals that the daemon handles, in their order. The main thread waits for them.
///
/// It does not use a Dispatch source, which needs the signal to be ignored. The source is registered later, and a
/// signal in between would be lost.
enum SignalWatch {
    enum Signal: Int32, CaseIterable, Sendable {
        case hangUp = 1
        case interrupt = 2
        case terminate = 15
    }

    /// All signals since `hold()`, for one reader.
    static var signals: AsyncStream<Signal> { arrivals.stream }
    private static let arrivals = AsyncStream.makeStream(of: Signal.self)

    /// Whether a signal to end has arrived, perhaps not read yet.
    static var hasStopArrived: Bool { stopArrived.load(ordering: .sequentiallyConsistent) }
    private static let stopArrived = Atomic(false)

    /// Blocks the signals' default action until they are waited for. Call it while there is only one thread, because
    /// new threads inherit it.
    static func hold() {
        var set = signalSet()
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for signals, forever.
    static func run() -> Never {
        var set = signalSet()
        while true {
            var number: Int32 = 0
            guard unsafe sigwait(&set, &number) == 0, let signal = Signal(rawValue: number) else { continue }
            if signal != .hangUp { stopArrived.store(true, ordering: .sequentiallyConsistent) }
            arrivals.continuation.yield(signal)
        }
    }

    private static func signalSet() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in Signal.allCases { unsafe sigaddset(&set, signal.rawValue) }
        return set
    }
}
