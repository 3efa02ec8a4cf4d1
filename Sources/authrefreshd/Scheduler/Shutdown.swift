internal import AccountStorage
internal import RefreshCore

/// How the daemon ends: nothing is begun any more, and what is under way comes to its end.
enum Shutdown {
    /// Starts no more requests, and returns when the answers of those under way are stored.
    ///
    /// A request that has passed its time limit is stored as unanswered at once: `TimeoutStopSec=` is not spent on it.
    static func run(on coordinator: isolated RefreshCoordinator) async {
        let requests = coordinator.scheduler.requests
        coordinator.lifecycle.stop()
        requests.giveUpAnswers(where: requests.isOverdue)
        coordinator.take(coordinator.signIns.stop(at: coordinator.timebase.now()))
        coordinator.scheduler.returnWaitingLeases()
        coordinator.take(coordinator.storeKeeping.stop())
        await withCheckedContinuation { continuation in
            coordinator.lifecycle.waitForEnd(continuation)
            coordinator.wake()
        }
    }

    /// Ends `run` if nothing is under way any more.
    ///
    /// An answer that cannot be stored is tried again and again: it may hold the only refresh token that the server still takes. How
    /// long that may take is for the service manager to say (`TimeoutStopSec=`).
    static func finishIfIdle(on coordinator: isolated RefreshCoordinator) {
        let isIdle =
            coordinator.scheduler.requests.isEmpty && coordinator.signIns.isEmpty && coordinator.records.areStored
            && coordinator.registrations.areStored && coordinator.storeKeeping.isIdle
            && !coordinator.scheduler.hasArrivals && coordinator.tokenFiles.isIdle
        guard let stopped = coordinator.lifecycle.end(ifIdle: isIdle) else { return }
        // Those at an issuer's gate.
        for account in coordinator.callers.accounts { coordinator.answerWaiters(of: account, with: .stopping) }
        coordinator.end()
        coordinator.take(coordinator.storeKeeping.end())
        do {
            try coordinator.store.close()
        } catch {
            coordinator.changeLog.storeFailed(error)
        }
        stopped.resume()
    }
}
