internal import AccountStorage
internal import RefreshCore
internal import Systemd

/// What happens to the machine that the daemon runs on.
extension RefreshCoordinator {
    /// The wall clock was stepped, or the machine slept: the kernel reports both alike.
    func clockStepped() {
        if suspendDrift.hasSlept() { noteResume() }
        do {
            try reconcileClock()
        } catch {
            storeFailed(error, with: [], at: timebase.now())
        }
        wake()
    }

    /// logind says that the machine woke. Where the clocks have told already, this is no news.
    func resumed() {
        if suspendDrift.hasSlept() { noteResume() }
    }

    /// Deadlines have passed in the sleep, and connections have died.
    private func noteResume() {
        changeLog.resumed()
        if isOnline { connectivityCursor = AccountID(0) }
        wake()
    }

    /// A route came up, or the last one went.
    func routeChanged(isOnline: Bool) {
        guard isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        changeLog.routeChanged(isOnline: isOnline)
        if isOnline { connectivityCursor = AccountID(0) }
        onStatusChange()
        wake()
    }

    /// Keeps the stored deadlines true to the time that really passes.
    ///
    /// Deadlines are wall-clock times. After a step backward they would all come too late by the size of the step, so they move with
    /// it. After a step forward some come too early; their accounts decide by both clocks what is due.
    func reconcileClock() throws(StoreError) {
        let offset = ClockOffset(at: timebase.now())
        if let known = try store.clockOffset(), known.bootID == offset.bootID {
            let step = offset.wallMinusBoot - known.wallMinusBoot
            // NTP slews by milliseconds all the time; a second is a step.
            guard step > .seconds(1) || step < .seconds(-1) else { return }
            changeLog.clockStepped(by: step)
            if step < .zero { return try store.shiftDeadlines(by: step, clock: offset) }
        }
        try store.recordClockOffset(offset)
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
