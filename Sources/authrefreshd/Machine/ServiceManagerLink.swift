internal import Dispatch
internal import RefreshCore
internal import Systemd

/// Tells the service manager that the daemon is ready, alive, and how its accounts are.
final class ServiceManagerLink {
    private let notifier: ServiceNotifier
    private let queue: DispatchQueue
    /// Nil until the first `ready`: Dispatch traps when a timer is let go of that never began, as one would be in a failed start.
    private var watchdog: (any DispatchSourceTimer)?

    /// - Parameter queue: the coordinator's.
    init(notifier: ServiceNotifier, queue: DispatchQueue) {
        self.notifier = notifier
        self.queue = queue
    }

    /// Says READY=1, and feeds the watchdog from now on.
    func ready(status: String) {
        notifier.ready(status: status)
        if watchdog == nil { watchdog = startWatchdog() }
    }

    /// On the coordinator's own queue: a ping proves that the queue which does the work turns over.
    private func startWatchdog() -> (any DispatchSourceTimer)? {
        guard let interval = notifier.watchdogInterval else { return nil }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let half = DispatchTimeInterval.microseconds(Int(interval.microseconds / 2))
        timer.schedule(
            deadline: .now() + half,
            repeating: half,
            leeway: .microseconds(Int(interval.microseconds / 20))
        )
        timer.setEventHandler { [notifier] in notifier.watchdog() }
        timer.activate()
        return timer
    }

    func status(_ status: String) {
        notifier.status(status)
    }

    func reloading() {
        notifier.reloading()
    }

    func stopping() {
        notifier.stopping()
    }

    /// Replaces the status line by the coordinator's; to be called on its queue.
    func statusChanged(of coordinator: RefreshCoordinator) -> @Sendable () -> Void {
        { [notifier, weak coordinator] in
            guard let coordinator else { return }
            notifier.status(coordinator.assumeIsolated { $0.statusLine })
        }
    }
}
