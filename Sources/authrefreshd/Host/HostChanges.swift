internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// What follows from what happens to the machine that the daemon runs on.
enum HostChanges {
    static func take(_ event: HostState.Event, on coordinator: isolated RefreshCoordinator) {
        switch coordinator.host.take(event, at: coordinator.timebase.now()) {
        case .slept: noteResume(on: coordinator)
        case .routeChanged: noteRoute(on: coordinator)
        case .none: coordinator.wake()
        }
    }

    /// Deadlines have passed in the sleep, and connections have died.
    static func noteResume(on coordinator: isolated RefreshCoordinator) {
        coordinator.changeLog.resumed()
        coordinator.host.sleepIsOver()
        // Not the younger ones: deadlines that passed in the sleep may have begun them a moment ago, before this was told. What a sleep
        // has cut off among them, TCP keepalive finds out.
        coordinator.scheduler.requests.giveUpAnswers(where: coordinator.scheduler.requests.isOverdue)
        retryUnreached(on: coordinator)
        coordinator.wake()
    }

    private static func noteRoute(on coordinator: isolated RefreshCoordinator) {
        coordinator.changeLog.routeChanged(isOnline: coordinator.host.isOnline)
        if !coordinator.host.isOnline {
            coordinator.scheduler.requests.giveUpAnswers { account in
                (try? coordinator.records.record(of: account))?.account.issuer.isLoopback != true
            }
        }
        retryUnreached(on: coordinator)
        coordinator.statusChanged()
        coordinator.wake()
    }

    /// Has the accounts tried again that may have failed for want of a network, or of the right time.
    private static func retryUnreached(on coordinator: isolated RefreshCoordinator) {
        guard coordinator.host.isOnline else { return }
        coordinator.client.forgetFailures()
        coordinator.scheduler.retryUnreached()
    }

    /// Keeps the stored deadlines true to the time that really passes. A step may have mended what looked like a misconfiguration:
    /// certificates are judged by the wall clock.
    ///
    /// - Throws: `StoreError` if it could not be noted; the next turn tries again.
    static func reconcileClock(at now: Moment, on coordinator: isolated RefreshCoordinator) throws(StoreError) {
        guard let change = try coordinator.host.reconcileClock(in: coordinator.store, at: now) else { return }
        coordinator.changeLog.clockStepped(by: change.size)
        if case .stepped = change { retryUnreached(on: coordinator) }
    }

    /// Notes how far the server's clock is from ours, as its answer told just now.
    static func noteServerDate(_ date: Timestamp?, of issuer: IssuerID, on coordinator: isolated RefreshCoordinator) {
        guard let date else { return }
        coordinator.host.noteSkew(date - coordinator.timebase.now().wall, of: issuer, in: coordinator.store)
    }
}
