internal import Dispatch
internal import Glibc
internal import RefreshCore
internal import Synchronization
internal import Systemd

/// Tells the service manager that the daemon is ready, alive, and how its accounts are.
final class ServiceManagerLink {
    private let notifier: ServiceNotifier
    private let news: ManagerNews
    private let watchdog: Watchdog
    /// Nil until the first `ready`: Dispatch traps when a timer is let go of that never began, as one would be in a failed start.
    private var timer: (any DispatchSourceTimer)?

    /// - Parameter loops: the daemon counts as alive if every one of them turns.
    init(notifier: ServiceNotifier, loops: [Watchdog.Loop]) {
        self.notifier = notifier
        let news = ManagerNews { $0.tell(notifier) }
        self.news = news
        watchdog = Watchdog(loops) { news.add(.alive) }
    }

    /// Says READY=1, and feeds the watchdog from now on.
    func ready(status: String) {
        news.add(.ready(status))
        if timer == nil { timer = startWatchdog() }
    }

    /// The daemon counts as alive only if this loop turns, too.
    func watch(_ loop: @escaping Watchdog.Loop) {
        watchdog.watch(loop)
    }

    func reloading() {
        news.add(.reloading)
    }

    func stopping() {
        news.add(.stopping)
    }

    /// Replaces the status line by the coordinator's; to be called on its queue.
    func statusChanged(of coordinator: RefreshCoordinator) -> @Sendable () -> Void {
        { [news, weak coordinator] in
            guard let coordinator else { return }
            news.add(.status(coordinator.assumeIsolated { $0.statusLine }))
        }
    }

    /// Returns when the manager has been told everything, or after `limit`.
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

/// Asks every loop of the daemon a question, and says so when all have answered: then each of them turns.
///
/// The question waits in each loop behind whatever the loop does. A loop that hangs never answers, and is not asked again.
final class Watchdog: Sendable {
    /// Has `answer` called on the loop, behind everything that it was asked for before.
    typealias Loop = @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void

    private struct State {
        var loops: [Loop]
        /// How many have not answered the last question.
        var unanswered = 0
    }

    private let state: Mutex<State>
    private let allTurn: @Sendable () -> Void

    /// - Parameter allTurn: called on the loop that answers last.
    init(_ loops: [Loop], allTurn: @escaping @Sendable () -> Void) {
        state = Mutex(State(loops: loops))
        self.allTurn = allTurn
    }

    /// Asks this loop, too, from the next question on.
    func watch(_ loop: @escaping Loop) {
        state.withLock { $0.loops.append(loop) }
    }

    /// Asks all loops, unless one of them still owes an answer.
    func ask() {
        let loops = state.withLock { state -> [Loop] in
            guard state.unanswered == 0 else { return [] }
            state.unanswered = state.loops.count
            return state.loops
        }
        for loop in loops { loop { self.answered() } }
    }

    private func answered() {
        let isLast = state.withLock { state in
            state.unanswered -= 1
            return state.unanswered == 0
        }
        if isLast { allTurn() }
    }
}

/// What the service manager is to be told, on a queue of its own: a manager that does not read blocks whoever tells it something
/// (sd_notify(3)).
///
/// Of each kind of news only the latest waits, so there are never more than five.
final class ManagerNews: Sendable {
    enum Item: Sendable {
        case ready(String)
        case status(String)
        case reloading
        case stopping
        case alive

        func tell(_ notifier: ServiceNotifier) {
            switch self {
            case .ready(let status): notifier.ready(status: status)
            case .status(let status): notifier.status(status)
            case .reloading: notifier.reloading()
            case .stopping: notifier.stopping()
            case .alive: notifier.watchdog()
            }
        }

        /// Whether `next` makes it needless to tell this.
        fileprivate func isOutdated(by next: Item) -> Bool {
            switch (self, next) {
            case (.ready, .ready), (.status, .status), (.status, .ready), (.reloading, .reloading),
                (.stopping, .stopping), (.alive, .alive):
                true
            case (.ready, _), (.status, _), (.reloading, _), (.stopping, _), (.alive, _): false
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

    /// - Parameter tell: tells one item, and may block.
    init(tell: @escaping @Sendable (Item) -> Void) {
        self.tell = tell
    }

    /// Has an item told after those that wait; never blocks.
    func add(_ item: Item) {
        let begins = state.withLock { state in
            state.waiting.removeAll { $0.isOutdated(by: item) }
            state.waiting.append(item)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        if begins { queue.async { self.tellAll() } }
    }

    /// Returns when everything that was added until now is told, or when `limit` is over.
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

/// The signals that the daemon acts on, as they come. The main thread waits for them.
///
/// Not a Dispatch source: between the ignoring that one needs and its registration, which happens later and elsewhere, a signal
/// is lost for good.
enum SignalWatch {
    enum Signal: Int32, CaseIterable, Sendable {
        case hangUp = 1
        case interrupt = 2
        case terminate = 15
    }

    /// All that came since `hold()`; for one reader.
    static var signals: AsyncStream<Signal> { arrivals.stream }
    private static let arrivals = AsyncStream.makeStream(of: Signal.self)

    /// Keeps the signals from their default action, until they are waited for. To be called before there is a second thread: each
    /// one inherits it.
    static func hold() {
        var set = signalSet()
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for signals from now on.
    static func run() -> Never {
        var set = signalSet()
        while true {
            var number: Int32 = 0
            guard unsafe sigwait(&set, &number) == 0, let signal = Signal(rawValue: number) else { continue }
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
