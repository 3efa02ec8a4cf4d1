internal import AccountStorage
internal import Glibc
internal import RefreshCore
internal import Systemd

/// What the daemon as a whole is told about, and ends by.
extension RefreshCoordinator {
    /// The daemon at a glance.
    struct Overview: Sendable {
        var counts: PhaseCounts
        var nextDeadline: Timestamp?
        var isOnline: Bool
        var trouble: StoreError?
        var degradation: Degradation
        /// Issuers whose accounts ask for more than they may be asked, and since when.
        var behind: [(issuer: Issuer, since: Moment)]

        /// In one sentence; nil if all is well.
        var troubleText: String? { trouble?.description ?? degradation.texts.first }
        var accounts: Int { counts.total }
        var damaged: Int { counts.setAside }
        var interactionRequired: Int { counts.interactionRequired }
    }

    func overview() throws(StoreError) -> Overview {
        Overview(
            counts: try store.counts(),
            nextDeadline: try store.nextDeadline(after: Timestamp(microseconds: 0), online: host.isOnline),
            isOnline: host.isOnline,
            trouble: trouble?.error,
            degradation: degradation,
            behind: gates.behind
        )
    }

    static let rejectedConfiguration = "the new configuration is rejected, the one before is in force"

    /// One line for `systemctl status`.
    var statusLine: String {
        guard let overview = try? overview() else { return "the store cannot be read" }
        if let trouble = overview.trouble { return "trouble: \(trouble)" }
        var parts = isConfigurationRejected ? [Self.rejectedConfiguration] : []
        parts += overview.degradation.texts
        parts += [overview.accounts == 1 ? "1 account" : "\(overview.accounts) accounts"]
        let counts = overview.counts
        if counts.interactionRequired > 0 { parts.append("\(counts.interactionRequired) need a person") }
        if counts.setAside > 0 { parts.append("\(counts.setAside) damaged") }
        if counts.misconfigured > 0 { parts.append("\(counts.misconfigured) misconfigured") }
        if counts.backingOff > 0 { parts.append("\(counts.backingOff) retrying") }
        if let behind = overview.behind.first {
            let others = overview.behind.count > 1 ? " and \(overview.behind.count - 1) more" : ""
            parts.append("\(behind.issuer.url)\(others) cannot be kept up with")
        }
        if !overview.isOnline { parts.append("offline") }
        if let next = overview.nextDeadline { parts.append("next refresh \(next.clockTime)") }
        return parts.joined(separator: ", ")
    }

    /// Takes over a changed configuration. Policies and limits count from the next decisions on.
    func reload(_ settings: CoordinatorSettings) {
        self.settings = settings
        isConfigurationRejected = false
        keyring.useSecretService(settings.usesSecretService)
        wake()
    }

    /// Notes that the configuration on disk is not the one in force, until one can be taken over.
    func configurationRejected() {
        isConfigurationRejected = true
    }

    /// Starts no more requests, and returns when the answers of those under way are stored.
    ///
    /// A request that has passed its time limit is stored as unanswered at once: `TimeoutStopSec=` is not spent on it.
    func stop() async {
        isStopping = true
        exchanges.giveUpAnswers(where: exchanges.isOverdue)
        stopSignIns()
        returnWaitingLeases()
        endBackups(.interrupted)
        await withCheckedContinuation { continuation in
            stopped = continuation
            wake()
        }
    }

    /// Notes the beginning of a server call; false if there are as many as may be.
    func beginServerCall() -> Bool {
        serverCalls.take()
    }

    /// Notes the end of a server call, which the end of the daemon may have waited for.
    func serverCallEnded() {
        serverCalls.giveBack()
        wake()
    }

    /// Ends `stop()` if nothing is under way any more.
    ///
    /// An answer that cannot be stored is tried again and again: it may hold the only refresh token that the server still takes. How
    /// long that may take is for the service manager to say (`TimeoutStopSec=`).
    func finishStopping() {
        guard isStopping, exchanges.isEmpty, signIns.isEmpty, unstored.isEmpty, registrations.areStored,
            backups.underWay == nil, serverCalls.areFree, !hasArrivals, let continuation = stopped
        else { return }
        stopped = nil
        // Those at an issuer's gate.
        for account in callers.accounts { answerWaiters(of: account, with: .stopping) }
        isOver = true
        timer = nil
        host.end()
        endRekeying(with: .failure(.interrupted))
        endChecking(failure: .interrupted)
        endBackups(.interrupted)
        do {
            try store.close()
        } catch {
            changeLog.storeFailed(error)
        }
        continuation.resume()
    }
}

extension Timestamp {
    /// The local time of day, `14:02:09`, with the date if it is not today's.
    fileprivate var clockTime: String {
        let isToday = localTime("%F") == Timestamp(microseconds: WallClock.now()).localTime("%F")
        return localTime(isToday ? "%T" : "%F %T")
    }

    /// The local time as strftime(3) writes it; not Foundation's formatter, which costs a megabyte of tables.
    private func localTime(_ format: String) -> String {
        var seconds = time_t(microseconds / 1_000_000)
        var fields = unsafe tm()
        var text = [CChar](repeating: 0, count: 64)
        guard unsafe localtime_r(&seconds, &fields) != nil, unsafe strftime(&text, text.count, format, &fields) > 0
        else {
            return "at \(microseconds) µs"
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
