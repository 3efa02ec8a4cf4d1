internal import Dispatch
internal import RefreshCore
internal import Systemd

/// Tells the service manager that the daemon is ready, alive, and how its accounts are.
final class ServiceManagerLink {
    private let notifier: ServiceNotifier
    private let coordinator: RefreshCoordinator
    private let watchdog: (any DispatchSourceTimer)?

    init(notifier: ServiceNotifier, coordinator: RefreshCoordinator) {
        self.notifier = notifier
        self.coordinator = coordinator
        // On the coordinator's own queue: a ping proves that the queue which does the work turns over.
        watchdog = notifier.watchdogInterval.map { interval in
            let timer = DispatchSource.makeTimerSource(queue: coordinator.queue)
            let half = DispatchTimeInterval.microseconds(Int(interval.microseconds / 2))
            timer.schedule(
                deadline: .now() + half,
                repeating: half,
                leeway: .microseconds(Int(interval.microseconds / 20))
            )
            timer.setEventHandler { notifier.watchdog() }
            return timer
        }
    }

    /// Says READY=1, and feeds the watchdog from now on.
    func ready() async {
        notifier.ready(status: await coordinator.statusLine)
        watchdog?.activate()
    }

    func reloading() {
        notifier.reloading()
    }

    func stopping() {
        notifier.stopping()
    }

    /// Replaces the status line; to be called on the coordinator's queue.
    var statusChanged: @Sendable () -> Void {
        { [notifier, weak coordinator] in
            guard let coordinator else { return }
            notifier.status(coordinator.assumeIsolated { $0.statusLine })
        }
    }
}
