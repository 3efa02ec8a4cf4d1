internal import Dispatch
internal import Logging
internal import RefreshCore
internal import Systemd

/// Tells the coordinator what happens to the machine: clock steps, sleep, routes. Lives on the coordinator's queue.
final class HostWatch: Sendable {
    private let coordinator: RefreshCoordinator
    private let changeLog: ChangeLog

    init(coordinator: RefreshCoordinator, changeLog: ChangeLog) {
        self.coordinator = coordinator
        self.changeLog = changeLog
    }

    /// Begins to watch. A watch that cannot be had is done without: the log says so once.
    ///
    /// - Returns: the watches, to be held as long as they are to run, and whether there is a route now.
    func begin(on queue: DispatchQueue) -> (watches: [any AnyObject], isOnline: Bool) {
        var watches: [any AnyObject] = []
        var isOnline = true
        do throws(SystemdError) {
            watches.append(
                try ClockWatch(queue: queue) { [weak coordinator] in
                    coordinator?.assumeIsolated { $0.clockStepped() }
                }
            )
        } catch {
            changeLog.unwatched(error, "steps of the clock are not noticed at once")
        }
        do throws(SystemdError) {
            let routes = try RouteWatch(queue: queue) { [weak coordinator] isOnline in
                coordinator?.assumeIsolated { $0.routeChanged(isOnline: isOnline) }
            }
            isOnline = routes.hadRouteAtStart
            watches.append(routes)
        } catch {
            changeLog.unwatched(error, "the network is taken for up")
        }
        do throws(SystemdError) {
            watches.append(
                try SleepWatch(
                    queue: queue,
                    onLost: { [weak coordinator, changeLog] error in
                        // Later: it is the watch itself that calls.
                        queue.async { [weak coordinator] in coordinator?.assumeIsolated { $0.sleepWatchLost() } }
                        changeLog.logger.info(
                            "the system bus is gone; sleep is noticed by the clocks",
                            metadata: [JournalKey.error: "\(error)"]
                        )
                    },
                    onSleep: { [weak coordinator] in coordinator?.assumeIsolated { $0.sleepBegins() } },
                    onResume: { [weak coordinator] in coordinator?.assumeIsolated { $0.resumed() } }
                )
            )
        } catch {
            changeLog.logger.info(
                "no system bus; sleep is noticed by the clocks",
                metadata: [JournalKey.error: "\(error)"]
            )
        }
        return (watches, isOnline)
    }
}
