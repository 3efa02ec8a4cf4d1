internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Handles events of the machine that the daemon runs on.
enum HostChanges {
    static func take(_ event: HostState.Event, on coordinator: isolated RefreshCoordinator) {
        switch coordinator.host.take(event, at: coordinator.timebase.now()) {
        case .slept: noteResume(on: coordinator)
        case .routeChanged: noteRoute(on: coordinator)
        case .otherNetwork:
            retryUnreached(on: coordinator)
            coordinator.wake()
        case .none: coordinator.wake()
        }
    }

    /// Handles a resume: deadlines have passed during the sleep, and connections have died.
    static func noteResume(on coordinator: isolated RefreshCoordinator) {
        coordinator.changeLog.write(.resumed)
        coordinator.host.sleepIsOver()
        // Younger requests continue. They may have been started a moment ago, before this event, by deadlines that
        // passed during the sleep. If the sleep has cut off one of them, TCP keepalive finds it.
        coordinator.scheduler.requests.giveUpAnswers(where: coordinator.scheduler.requests.isOverdue)
        retryUnreached(on: coordinator)
        coordinator.wake()
    }

    private static func noteRoute(on coordinator: isolated RefreshCoordinator) {
        // Requests under way continue. A connection survives a short loss of the route, and its answer may contain the
        // only refresh token that the server still accepts. TCP keepalive finds the connections that do not survive; behind
        // a proxy, which keeps its side alive, the time limit for answers ends them.
        coordinator.changeLog.write(coordinator.host.isOnline ? .networkUp : .networkDown)
        retryUnreached(on: coordinator)
        coordinator.statusChanged()
        coordinator.wake()
    }

    /// Tries accounts again that may have failed because of the network, its place or a wrong clock.
    private static func retryUnreached(on coordinator: isolated RefreshCoordinator) {
        guard coordinator.host.isOnline else { return }
        coordinator.client.forgetFailures()
        coordinator.scheduler.retryUnreached()
    }

    /// Adjusts the stored deadlines to the time that has really passed. A step may also have corrected what looked like
    /// a misconfiguration, because certificates are checked against the wall clock.
    ///
    /// - Throws: `StoreError` if the change could not be stored. The next turn tries again.
    static func reconcileClock(at now: Moment, on coordinator: isolated RefreshCoordinator) throws(StoreError) {
        guard let change = try coordinator.host.reconcileClock(in: coordinator.store, at: now) else { return }
        coordinator.changeLog.write(.clockStepped(by: change.size))
        // Their tokens may be over by this clock, or no longer.
        TokenFileSteps.concern(coordinator.tokenFiles.accounts, at: now, on: coordinator)
        if case .stepped = change { retryUnreached(on: coordinator) }
    }

    /// Records the difference between the server's clock and ours, from the answer that has just arrived.
    static func noteServerDate(_ date: Timestamp?, of issuer: IssuerID, on coordinator: isolated RefreshCoordinator) {
        guard let date else { return }
        coordinator.host.noteSkew(date - coordinator.timebase.now().wall, of: issuer, in: coordinator.store)
    }
}
