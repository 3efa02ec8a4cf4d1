internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// What follows from what happens to the machine that the daemon runs on.
extension RefreshCoordinator {
    /// The wall clock was stepped, or the machine slept: the kernel reports both alike.
    func clockStepped() {
        if host.hasSlept() { noteResume() }
        // What there is to do about a step, the turn does.
        wake()
    }

    /// logind says that the machine is about to sleep. Requests under way hold it up for a moment; a token that is sent now may be
    /// spent, and its answer lost.
    func sleepBegins() {
        host.sleepBegins(at: timebase.now())
        wake()
    }

    /// logind says that the machine woke. Where the clocks have told already, this is no news.
    func resumed() {
        if host.hasSlept() { noteResume() }
        host.sleepIsOver()
        wake()
    }

    /// The system bus is gone.
    func sleepWatchLost() {
        host.sleepWatchLost()
        wake()
    }

    /// Deadlines have passed in the sleep, and connections have died.
    func noteResume() {
        changeLog.resumed()
        host.sleepIsOver()
        // Not the younger ones: deadlines that passed in the sleep may have begun them a moment ago, before this was told. What a sleep
        // has cut off among them, TCP keepalive finds out.
        exchanges.giveUpAnswers(where: exchanges.isOverdue)
        retryUnreached()
        wake()
    }

    /// A route came up, or the last one went.
    func routeChanged(isOnline: Bool) {
        guard host.routeChanged(isOnline: isOnline) else { return }
        changeLog.routeChanged(isOnline: isOnline)
        if !isOnline { exchanges.giveUpAnswers { !isAtLoopback($0) } }
        retryUnreached()
        onStatusChange()
        wake()
    }

    private func isAtLoopback(_ account: AccountID) -> Bool {
        guard case .intact(let record)? = try? entry(of: account) else { return false }
        return record.account.issuer.isLoopback
    }

    /// Has the accounts tried again that may have failed for want of a network, or of the right time.
    private func retryUnreached() {
        guard host.isOnline else { return }
        client.forgetFailures()
        connectivityCursor = AccountID(0)
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
