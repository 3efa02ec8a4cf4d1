internal import AccountStorage
internal import RefreshCore

/// What the daemon as a whole is told, and how it ends.
extension RefreshCoordinator {
    func overview() throws(StoreError) -> Overview {
        Overview(
            counts: try store.counts(),
            nextDeadline: try store.nextDeadline(after: Timestamp(microseconds: 0), online: host.isOnline),
            isOnline: host.isOnline,
            trouble: trouble?.error,
            degradation: storeKeeping.degradation,
            behind: scheduler.behind,
            isConfigurationRejected: isConfigurationRejected
        )
    }

    /// One line for `systemctl status`.
    var statusLine: String {
        (try? overview())?.statusLine ?? "the store cannot be read"
    }

    /// Takes over a changed configuration. Policies and limits count from the next decisions on.
    func reload(_ settings: RefreshConfiguration) {
        self.settings = settings
        isConfigurationRejected = false
        storeKeeping.useSecretService(settings.usesSecretService)
        wake()
    }

    /// Notes that the configuration on disk is not the one in force, until one can be taken over.
    func configurationRejected() {
        isConfigurationRejected = true
    }

    /// Begins a call of a server that the end of the daemon waits for. `call` runs in a later turn of the queue.
    ///
    /// - Returns: false if as many calls as may be are under way; nothing is begun then.
    func beginServerCall(_ call: @escaping @Sendable (isolated RefreshCoordinator) async -> Void) -> Bool {
        guard lifecycle.beginServerCall() else { return false }
        Task {
            await call(self)
            lifecycle.endServerCall()
            wake()
        }
        return true
    }

    /// Notes the end of a diagnosis.
    func diagnosisEnded() {
        lifecycle.endDiagnosis()
    }

    /// Starts no more requests, and returns when the answers of those under way are stored.
    ///
    /// A request that has passed its time limit is stored as unanswered at once: `TimeoutStopSec=` is not spent on it.
    func stop() async {
        lifecycle.stop()
        scheduler.requests.giveUpAnswers(where: scheduler.requests.isOverdue)
        take(signIns.stop(at: timebase.now()))
        scheduler.returnWaitingLeases()
        take(storeKeeping.stop())
        await withCheckedContinuation { continuation in
            lifecycle.waitForEnd(continuation)
            wake()
        }
    }

    /// Ends `stop()` if nothing is under way any more.
    ///
    /// An answer that cannot be stored is tried again and again: it may hold the only refresh token that the server still takes. How
    /// long that may take is for the service manager to say (`TimeoutStopSec=`).
    func finishStopping() {
        let isIdle =
            scheduler.requests.isEmpty && signIns.isEmpty && records.areStored && registrations.areStored
            && storeKeeping.isIdle && !scheduler.hasArrivals
        guard let stopped = lifecycle.end(ifIdle: isIdle) else { return }
        // Those at an issuer's gate.
        for account in callers.accounts { answerWaiters(of: account, with: .stopping) }
        end()
        take(storeKeeping.end())
        do {
            try store.close()
        } catch {
            changeLog.storeFailed(error)
        }
        stopped.resume()
    }
}
