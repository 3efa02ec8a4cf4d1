internal import Dispatch
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
