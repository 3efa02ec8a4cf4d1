internal import AccountStorage
internal import Dispatch
internal import RefreshCore

/// Checking the store while it is in use: it is copied in batches, callers and refreshes having their turns in between, and the copy is
/// checked on a thread that nobody waits for.
extension RefreshCoordinator {
    /// Checks the store, or joins the check that is under way.
    ///
    /// - Returns: the follower's number, to forget it by.
    /// - Throws: `StoreError` if the copy cannot be begun.
    func check(for follower: StoreChecking.Follower) throws(StoreError) -> Int {
        if let number = checking?.follow(follower) { return number }
        var begun = StoreChecking(copy: try StoreCopy(of: store, for: .check))
        let number = begun.follow(follower)
        checking = begun
        copyForCheck()
        return number
    }

    /// Forgets a follower who has gone; the check goes on.
    func forgetCheckFollower(_ number: Int) {
        checking?.forget(number)
    }

    private func copyForCheck() {
        guard !isStopping else { return }
        switch checking?.copyMore(of: store.path, clock: timebase.now) {
        case nil: break
        case .check(let copy): checkCopy(copy, at: timebase.now().wall)
        case .end(let failure): endChecking(failure: failure)
        case .copyMore:
            queue.async { [weak self] in
                self?.assumeIsolated { $0.copyForCheck() }
            }
        }
    }

    private func checkCopy(_ copy: FinishedCopy, at wall: Timestamp) {
        let defences = StoreGuard(path: store.path, keyIdentifier: store.keyIdentifier, keyring: keyring)
        let report: @Sendable (StoreCheck.Portion) -> Void = { [weak self, queue] portion in
            queue.async { [weak self] in
                self?.assumeIsolated { $0.checked(portion) }
            }
        }
        // A queue of its own, once: what else blocks is not to wait for a minute.
        DispatchQueue(label: "authrefreshd.check", qos: .utility).async { [weak self, queue] in
            report(StoreCheck.Portion(findings: defences.findings()))
            StoreCheck.run(on: copy, at: wall, tell: report)
            // Behind the last portion, which is on its way to this queue.
            queue.async { [weak self] in
                self?.assumeIsolated { $0.endChecking(failure: nil) }
            }
        }
    }

    private func checked(_ portion: StoreCheck.Portion) {
        checking?.add(portion)
        checking?.tellProgress(at: timebase.now())
    }

    /// Tells those who wait for the check that it is over; without one it does nothing.
    ///
    /// - Parameter failure: why it did not come to its end; nil if it did.
    func endChecking(failure: StoreChecking.Failure?) {
        let ended = checking
        checking = nil
        ended?.end(failure: failure)
    }
}
