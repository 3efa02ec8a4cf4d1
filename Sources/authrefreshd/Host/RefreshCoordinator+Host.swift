internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// What follows from what happens to the machine that the daemon runs on.
extension RefreshCoordinator {
    func take(_ event: HostState.Event) {
        switch host.take(event, at: timebase.now()) {
        case .slept: noteResume()
        case .routeChanged: noteRoute()
        case .none: wake()
        }
    }

    /// Deadlines have passed in the sleep, and connections have died.
    func noteResume() {
        changeLog.resumed()
        host.sleepIsOver()
        // Not the younger ones: deadlines that passed in the sleep may have begun them a moment ago, before this was told. What a sleep
        // has cut off among them, TCP keepalive finds out.
        scheduler.requests.giveUpAnswers(where: scheduler.requests.isOverdue)
        retryUnreached()
        wake()
    }

    private func noteRoute() {
        changeLog.routeChanged(isOnline: host.isOnline)
        if !host.isOnline {
            scheduler.requests.giveUpAnswers { account in
                (try? records.record(of: account))?.account.issuer.isLoopback != true
            }
        }
        retryUnreached()
        statusChanged()
        wake()
    }

    /// Has the accounts tried again that may have failed for want of a network, or of the right time.
    private func retryUnreached() {
        guard host.isOnline else { return }
        client.forgetFailures()
        scheduler.retryUnreached()
    }

    /// Keeps the stored deadlines true to the time that really passes. A step may have mended what looked like a misconfiguration:
    /// certificates are judged by the wall clock.
    ///
    /// - Throws: `StoreError` if it could not be noted; the next turn tries again.
    func reconcileClock(at now: Moment) throws(StoreError) {
        guard let change = try host.reconcileClock(in: store, at: now) else { return }
        changeLog.clockStepped(by: change.size)
        if case .stepped = change { retryUnreached() }
    }

    /// Notes how far the server's clock is from ours, as its answer told just now.
    func noteServerDate(_ date: Timestamp?, of issuer: IssuerID) {
        guard let date else { return }
        host.noteSkew(date - timebase.now().wall, of: issuer, in: store)
    }
}
