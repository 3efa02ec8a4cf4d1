internal import AccountStorage
internal import OAuthClient
internal import RefreshCore
internal import Systemd

/// What happens to the machine that the daemon runs on.
extension RefreshCoordinator {
    /// The wall clock was stepped, or the machine slept: the kernel reports both alike.
    func clockStepped() {
        if suspendDrift.hasSlept() { noteResume() }
        // What there is to do about a step, the turn does.
        wake()
    }

    /// How long logind's word that the machine is about to sleep counts, should it never say that the sleep is over: it waits for delay
    /// locks for some seconds.
    private static let longestFallingAsleep = Duration.seconds(30)

    /// Has the machine wait with a sleep for the answers that are under way.
    func delaySleep() {
        sleepWatch?.delaySleep("a token is being refreshed")
    }

    func allowSleep() {
        sleepWatch?.allowSleep()
    }

    /// logind says that the machine is about to sleep. Requests under way hold it up for a moment; a token that is sent now may be
    /// spent, and its answer lost.
    func sleepBegins() {
        sleepAnnouncedAt = timebase.now()
        wake()
    }

    /// How long nothing is to be sent, for the machine is about to sleep; nil if it is not.
    func timeToSleep(at now: Moment) -> Duration? {
        guard let sleepAnnouncedAt else { return nil }
        let rest = Self.longestFallingAsleep - now.elapsed(since: sleepAnnouncedAt)
        return rest > .zero ? rest : nil
    }

    /// logind says that the machine woke. Where the clocks have told already, this is no news.
    func resumed() {
        if suspendDrift.hasSlept() { noteResume() }
        sleepAnnouncedAt = nil
        wake()
    }

    /// Deadlines have passed in the sleep, and connections have died.
    func noteResume() {
        changeLog.resumed()
        sleepAnnouncedAt = nil
        // Not the younger ones: deadlines that passed in the sleep may have begun them a moment ago, before this was told. What a sleep
        // has cut off among them, TCP keepalive finds out.
        giveUpAnswers(where: isOverdue)
        retryUnreached()
        wake()
    }

    /// A route came up, or the last one went.
    func routeChanged(isOnline: Bool) {
        guard isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        changeLog.routeChanged(isOnline: isOnline)
        if !isOnline { giveUpAnswers { !isAtLoopback($0) } }
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
        guard isOnline else { return }
        client.forgetFailures()
        connectivityCursor = AccountID(0)
    }

    /// Keeps the stored deadlines true to the time that really passes.
    ///
    /// Deadlines are wall-clock times. After a step backward they would all come too late by the size of the step, so they move with
    /// it. After a step forward some come too early; their accounts decide by both clocks what is due. Either may have mended what
    /// looked like a misconfiguration: certificates are judged by the wall clock.
    ///
    /// Looked at in every turn: where the kernel tells of no steps, a timer that fires by the old time is enough to notice one. A step is
    /// told once it is noted, or each try at a store that cannot be written would tell it again.
    ///
    /// - Throws: `StoreError` if it could not be noted; the next turn tries again.
    func reconcileClock(at now: Moment) throws(StoreError) {
        let offset = ClockOffset(at: now)
        if clockOffset == nil { clockOffset = try store.clockOffset() }
        guard let known = clockOffset else { return try recordClock(offset, shiftingBy: .zero) }
        if let step = offset.step(since: known) {
            try recordClock(offset, shiftingBy: min(step, .zero))
            changeLog.clockStepped(by: step)
            retryUnreached()
        } else if let behind = offset.timeLost(since: known, at: now.wall) {
            // How long the machine was off is unknown. All accounts decide by what they have whether it is from the future.
            let last = try store.lastDeadline()
            try recordClock(offset, shiftingBy: min(behind, last.map { now.wall - $0 } ?? .zero))
            changeLog.clockStepped(by: behind)
        } else if known.bootID != offset.bootID {
            try recordClock(offset, shiftingBy: .zero)
        }
    }

    private func recordClock(_ offset: ClockOffset, shiftingBy shift: Duration) throws(StoreError) {
        if shift < .zero {
            try store.shiftDeadlines(by: shift, clock: offset)
        } else {
            try store.recordClockOffset(offset)
        }
        clockOffset = offset
    }

    /// Notes how far the server's clock is from ours, if that has changed.
    func noteSkew(_ skew: Duration, of issuer: IssuerID) {
        // The header counts in whole seconds, and the answer has travelled.
        let tolerance = Duration.seconds(2)
        guard clockSkew(of: issuer).map({ max($0 - skew, skew - $0) > tolerance }) ?? true else { return }
        // What is lost here is shown to people only, and comes again with the next answer.
        try? store.recordSkew(skew, of: issuer)
        clockSkews[issuer] = skew
    }

    /// How far the issuer's clock is ahead of ours, as its last answer told; nil if none has.
    func clockSkew(of issuer: IssuerID) -> Duration? {
        if let known = clockSkews[issuer] { return known }
        let stored = (try? store.skew(of: issuer)) ?? nil
        // Issuers are few; whoever has thousands pays a look-up for each.
        if clockSkews.count >= 1_000 { clockSkews = [:] }
        clockSkews[issuer] = .some(stored)
        return stored
    }
}

extension ClockOffset {
    /// When that boot began, by its own wall clock.
    fileprivate var bootedAt: Timestamp { Timestamp(microseconds: 0) + wallMinusBoot }

    /// How far the wall clock was stepped since `known` was noted; nil if it was not, or not in the same boot.
    fileprivate func step(since known: ClockOffset) -> Duration? {
        let step = wallMinusBoot - known.wallMinusBoot
        // NTP slews by milliseconds all the time, and a leap second moves nothing that matters.
        let isStep = step > .milliseconds(1_500) || step < .milliseconds(-1_500)
        return bootID == known.bootID && isStep ? step : nil
    }

    /// How far `wall` is before the beginning of an earlier boot, at least, below zero; nil if it is not. A machine whose clock has no
    /// battery begins in 1970.
    fileprivate func timeLost(since known: ClockOffset, at wall: Timestamp) -> Duration? {
        let behind = wall - known.bootedAt
        return bootID != known.bootID && behind < .zero ? behind : nil
    }
}
