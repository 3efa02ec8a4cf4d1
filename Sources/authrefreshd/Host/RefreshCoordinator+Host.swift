internal import AccountStorage
internal import AuthRefreshInterface
internal import Logging
internal import OAuthClient
internal import RefreshCore
internal import Systemd

/// Handles events of the machine that the daemon runs on.
extension RefreshCoordinator {
    /// Begins to watch the machine. If a watch is not available, the log says so once, and the daemon runs without it.
    func watchMachine() {
        host.begin(watchClock(), watchRoutes(), watchSleep())
    }

    private func watchClock() -> ClockWatch? {
        do throws(SystemdError) {
            return try ClockWatch(queue: queue) { [weak self] in self?.assumeIsolated { $0.clockStepped() } }
        } catch {
            changeLog.write(.machineUnwatched(error, consequence: "the daemon does not notice clock steps at once"))
            return nil
        }
    }

    private func watchRoutes() -> RouteWatch? {
        do throws(SystemdError) {
            return try RouteWatch(
                queue: queue,
                onOtherNetwork: { [weak self] in self?.assumeIsolated { $0.networkChanged() } },
                onChange: { [weak self] isOnline in self?.assumeIsolated { $0.routeChanged(isOnline: isOnline) } }
            )
        } catch {
            changeLog.write(.machineUnwatched(error, consequence: "the daemon assumes that the network is up"))
            return nil
        }
    }

    private func watchSleep() -> SleepWatch? {
        do throws(SystemdError) {
            return try SleepWatch(
                queue: queue,
                // This runs later, because the watch itself makes this call.
                onLost: { [weak self] error in self?.later { $0.sleepWatchLost(error) } },
                onSleep: { [weak self] in self?.assumeIsolated { $0.sleepBegins() } },
                onResume: { [weak self] in self?.assumeIsolated { $0.resumed() } }
            )
        } catch {
            changeLog.logger.info(
                "there is no system bus; the daemon notices sleep by comparing clocks",
                metadata: [JournalKey.error.rawValue: "\(error)"]
            )
            return nil
        }
    }

    /// The wall clock was stepped or the machine slept. The kernel reports both in the same way, and the next turn handles a
    /// step.
    private func clockStepped() {
        if host.hasSlept() { noteResume() }
        wake()
    }

    /// logind announces that the machine is about to sleep. Requests under way delay the sleep for a moment. New ones
    /// should not start, because their token could be spent and the answer lost.
    func sleepBegins() {
        host.sleepBegins(at: timebase.now())
        wake()
    }

    /// logind reports that the machine has resumed. If the clocks have already shown the sleep, this is not news.
    func resumed() {
        host.sleepIsOver()
        if host.hasSlept() { noteResume() }
        wake()
    }

    /// The connection to the system bus is lost. The clocks show sleeps as well.
    private func sleepWatchLost(_ error: SystemdError) {
        changeLog.logger.info(
            "the system bus is gone; the daemon notices sleep by comparing clocks",
            metadata: [JournalKey.error.rawValue: "\(error)"]
        )
        host.sleepWatchLost()
        wake()
    }

    /// The first route came up, or the last one was lost.
    ///
    /// Requests under way continue. A connection survives a short loss of the route, and its answer may contain the only
    /// refresh token that the server still accepts. TCP keepalive finds the connections that do not survive; behind a
    /// proxy, which keeps its side alive, the time limit for answers ends them.
    func routeChanged(isOnline: Bool) {
        if host.note(isOnline: isOnline) {
            changeLog.write(isOnline ? .networkUp : .networkDown)
            retryUnreached()
            statusChanged()
        }
        wake()
    }

    /// The routes lead into another network, which may help some accounts.
    private func networkChanged() {
        retryUnreached()
        wake()
    }

    /// Handles a resume: deadlines have passed during the sleep, and connections have died.
    func noteResume() {
        changeLog.write(.resumed)
        host.sleepIsOver()
        // Younger requests continue. They may have been started a moment ago, before this event, by deadlines that
        // passed during the sleep. If the sleep has cut off one of them, TCP keepalive finds it.
        scheduler.requests.giveUpAnswers(where: scheduler.requests.isOverdue)
        retryUnreached()
        wake()
    }

    /// Tries accounts again that may have failed because of the network, its place or a wrong clock.
    private func retryUnreached() {
        guard host.isOnline else { return }
        client.forgetFailures()
        scheduler.retryUnreached()
    }

    /// Adjusts the stored deadlines to the time that has really passed. A step may also have corrected what looked like
    /// a misconfiguration, because certificates are checked against the wall clock.
    ///
    /// - Throws: `StoreError` if the change could not be stored. The next turn tries again.
    func reconcileClock(at now: Moment) throws(StoreError) {
        guard let change = try host.reconcileClock(in: store, at: now) else { return }
        changeLog.write(.clockStepped(by: change.size))
        // Their tokens may be over by this clock, or no longer.
        updateTokenFiles(of: tokenFiles.accounts, at: now)
        if case .stepped = change { retryUnreached() }
    }

    /// Records the difference between the server's clock and ours, from the answer that has just arrived.
    func noteServerDate(_ date: Timestamp?, of issuer: IssuerID) {
        guard let date else { return }
        host.noteSkew(date - timebase.now().wall, of: issuer, in: store)
    }
}
