internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// Handles events of the machine that the daemon runs on.
extension RefreshCoordinator {
    func hostChanged(_ event: HostState.Event) {
        switch host.take(event, at: timebase.now()) {
        case .slept: noteResume()
        case .routeChanged: noteRoute()
        case .otherNetwork:
            retryUnreached()
            wake()
        case .none: wake()
        }
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

    private func noteRoute() {
        // Requests under way continue. A connection survives a short loss of the route, and its answer may contain the
        // only refresh token that the server still accepts. TCP keepalive finds the connections that do not survive; behind
        // a proxy, which keeps its side alive, the time limit for answers ends them.
        changeLog.write(host.isOnline ? .networkUp : .networkDown)
        retryUnreached()
        statusChanged()
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
