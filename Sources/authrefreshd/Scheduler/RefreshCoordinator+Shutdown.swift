internal import AccountStorage
internal import RefreshCore

/// Ends the daemon: nothing new begins, and everything under way is completed.
extension RefreshCoordinator {
    /// Starts no more requests, and returns when the answers of those under way are stored.
    ///
    /// A request that has exceeded its time limit is stored as unanswered at once, so that it does not use up
    /// `TimeoutStopSec=`. If a mount covers the store, the answers go into the covered one, which a later daemon may find.
    func shutDown() async {
        let requests = scheduler.requests
        lifecycle.stop()
        store.isEnding = true
        requests.giveUpAnswers(where: requests.isOverdue)
        let now = timebase.now()
        carryOut(signIns.stop(at: now), at: now)
        webSessions.stop()
        scheduler.returnWaitingLeases()
        carryOut(storeKeeping.stop())
        updateTokenFiles(of: tokenFiles.accounts, at: now)
        await withCheckedContinuation { continuation in
            lifecycle.waitForEnd(continuation)
            wake()
        }
    }

    /// Whether nothing is under way, and every answer is stored.
    var isIdle: Bool {
        scheduler.requests.isEmpty && signIns.isEmpty && records.areStored && registrations.areStored
            && storeKeeping.isIdle && !scheduler.hasArrivals && tokenFiles.isIdle
    }

    /// Completes `shutDown` if nothing is under way any more.
    ///
    /// An answer that cannot be stored is tried again and again, because it may contain the only refresh token that the
    /// server still accepts. The service manager limits the time for that (`TimeoutStopSec=`).
    func finishShutdownIfIdle() {
        guard let stopped = lifecycle.end(ifIdle: isIdle) else { return }
        // The callers that wait at an issuer's gate.
        for account in callers.accounts { answerWaiters(of: account, with: .stopping) }
        end()
        carryOut(storeKeeping.end())
        do {
            try store.close()
        } catch {
            changeLog.write(.storeUnwritable(error))
        }
        stopped.resume()
    }
}
