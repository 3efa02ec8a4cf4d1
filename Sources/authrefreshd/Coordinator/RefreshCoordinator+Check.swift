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

    /// Copies one batch of pages, and asks for the next turn.
    private func copyForCheck() {
        guard !isStopping, let checking, let copy = checking.copy else { return }
        let began = timebase.now()
        do throws(StoreError) {
            let finished = try copy.advance(pages: checking.batchSize.count)
            let now = timebase.now()
            self.checking?.batchSize.fit(to: now.elapsed(since: began))
            self.checking?.tellProgress(at: now)
            if let finished {
                self.checking?.copy = nil
                checkCopy(finished, at: now.wall)
                return
            }
        } catch {
            return copyFailed(error)
        }
        queue.async { [weak self] in
            self?.assumeIsolated { $0.copyForCheck() }
        }
    }

    private func copyFailed(_ error: StoreError) {
        switch error {
        case .corrupt, .notADatabase:
            // What the check is there to find.
            checking?.add(StoreCheck.Portion(findings: [.unreadable(path: store.path, error)]))
            endChecking(failure: nil)
        // The disk is full, or fails: nothing is known of the store's soundness.
        default: endChecking(failure: .copy(error))
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
        ended?.copy?.discard()
        ended?.tellEnd(failure: failure)
    }
}
