internal import AccountStorage
internal import RefreshCore

/// Ends the daemon: nothing new begins, and everything under way is completed.
enum Shutdown {
    /// Starts no more requests, and returns when the answers of those under way are stored.
    ///
    /// A request that has exceeded its time limit is stored as unanswered at once, so that it does not use up
    /// `TimeoutStopSec=`. If a mount covers the store, the answers go into the covered one, which a later daemon may find.
    static func run(on coordinator: isolated RefreshCoordinator) async {
        let requests = coordinator.scheduler.requests
        coordinator.lifecycle.stop()
        coordinator.store.isEnding = true
        requests.giveUpAnswers(where: requests.isOverdue)
        coordinator.take(coordinator.signIns.stop(at: coordinator.timebase.now()))
        coordinator.scheduler.returnWaitingLeases()
        coordinator.take(coordinator.storeKeeping.stop())
        let now = coordinator.timebase.now()
        TokenFileSteps.concern(coordinator.tokenFiles.accounts, at: now, on: coordinator)
        await withCheckedContinuation { continuation in
            coordinator.lifecycle.waitForEnd(continuation)
            coordinator.wake()
        }
    }

    /// Whether nothing is under way, and every answer is stored.
    static func isIdle(_ coordinator: isolated RefreshCoordinator) -> Bool {
        coordinator.scheduler.requests.isEmpty && coordinator.signIns.isEmpty && coordinator.records.areStored
            && coordinator.registrations.areStored && coordinator.storeKeeping.isIdle
            && !coordinator.scheduler.hasArrivals && coordinator.tokenFiles.isIdle
    }

    /// Completes `run` if nothing is under way any more.
    ///
    /// An answer that cannot be stored is tried again and again, because it may contain the only refresh token that the
    /// server still accepts. The service manager limits the time for that (`TimeoutStopSec=`).
    static func finishIfIdle(on coordinator: isolated RefreshCoordinator) {
        guard let stopped = coordinator.lifecycle.end(ifIdle: isIdle(coordinator)) else { return }
        // The callers that wait at an issuer's gate.
        for account in coordinator.callers.accounts { coordinator.answerWaiters(of: account, with: .stopping) }
        coordinator.end()
        coordinator.take(coordinator.storeKeeping.end())
        do {
            try coordinator.store.close()
        } catch {
            coordinator.changeLog.write(.storeUnwritable(error))
        }
        stopped.resume()
    }
}
