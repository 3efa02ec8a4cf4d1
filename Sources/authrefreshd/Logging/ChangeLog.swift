internal import AccountStorage
internal import AuthRefreshInterface
internal import Logging
internal import RefreshCore
internal import Systemd
internal import Varlink

/// Writes changes to the log: one line each, with a constant text and the values in fields, and without secrets.
struct ChangeLog: Sendable {
    let logger: Logger
    /// The budget for refusals at the socket, for each reason and user.
    let refusalsAtSocket = LineBudget<String>.ofRefusals
    /// The budget for refusals by accounts' lists.
    private let refusalsByLists = LineBudget<AccountName>.ofRefusals
    /// Who held too much lately.
    let hoarders = Hoarders()

    func record(_ announcement: Announcement, of snapshot: AccountSnapshot, correlationID: String?) {
        guard let event = announcement.journalEvent, event.level >= logger.logLevel else { return }
        var fields = Logger.Metadata(minimumCapacity: 8)
        fields[JournalKey.account] = .string(snapshot.account.name.text)
        fields[JournalKey.issuer] = .string(snapshot.account.issuer.url)
        fields[JournalKey.generation] = .stringConvertible(snapshot.state.generation)
        if let name = announcement.wireName { fields[JournalKey.event] = .string(name) }
        if let correlationID { fields[JournalKey.correlationID] = .string(correlationID) }
        switch announcement {
        case .changed(let change): fields.merge(change, snapshot)
        case .signInStarted(let flow): fields[JournalKey.detail] = "\(flow)"
        case .signInFailed(let reason): fields[JournalKey.reason] = "\(reason)"
        case .stepUpRequired(let stepUp): fields.merge(stepUp)
        case .clientSecretEnding(let failure):
            fields.mergeSecretEnd(of: snapshot)
            if let failure { fields.merge(failure) }
        case .clientSecretRenewed: fields.mergeSecretEnd(of: snapshot)
        case .added, .updated, .renamed, .removed, .refreshStarted: break
        }
        write(event, fields)
    }

    func storeFailed(_ error: StoreError) {
        write(.storeUnwritable, [JournalKey.error: "\(error.description)"])
    }

    /// Logs that an account cannot be read and is set aside.
    func damaged(_ account: DamagedAccount) {
        write(.accountDamaged, [JournalKey.account: "\(account.name)", JournalKey.error: "\(account.cause)"])
    }

    func removed(_ account: DamagedAccount) {
        write(.accountRemoved, [JournalKey.account: "\(account.name)", JournalKey.event: "account-removed"])
    }

    /// Logs that a decision about an account contradicts the store.
    func contradicted(_ error: StoreError, _ account: AccountName) {
        write(.decisionRefused, [JournalKey.account: "\(account)", JournalKey.error: "\(error)"])
    }

    /// Logs that a caller is not on an account's list.
    func denied(_ reason: String, of account: AccountName) {
        let fields: Logger.Metadata = [JournalKey.account: "\(account)", JournalKey.error: "\(reason)"]
        writeRefusal(fields, after: refusalsByLists.spend(on: account))
    }

    /// Logs that `process` was refused because of what a program holds.
    func crowded(by hoarder: Hoarder, _ process: Int32) {
        hoarders.note(hoarder)
        let fields: Logger.Metadata = [JournalKey.error: "\(hoarder.text)", JournalKey.detail: "pid \(process)"]
        writeRefusal(fields, after: refusalsAtSocket.spend(on: hoarder.limit.rawValue))
    }

    /// Logs that a caller was refused.
    ///
    /// - Parameter leftOut: how many such lines were omitted before; nil if this one is omitted as well.
    func writeRefusal(_ fields: Logger.Metadata, after leftOut: Int?) {
        guard let leftOut else { return }
        var fields = fields
        if leftOut > 0 { fields[JournalKey.leftOut] = .stringConvertible(leftOut) }
        write(.peerRefused, fields)
    }

    /// Logs that a request has exceeded its time limit. Its answer is still awaited.
    func overdue(_ account: AccountName, correlationID: String) {
        logger.notice(
            "\(JournalDetail.answerOverdue.text)",
            metadata: [JournalKey.account: "\(account)", JournalKey.correlationID: "\(correlationID)"]
        )
    }

    /// Logs that a refresh brought an ID token that cannot be trusted.
    func refusedIDToken(_ fault: String, of account: AccountName, correlationID: String) {
        write(
            .idTokenRefused,
            [
                JournalKey.account: "\(account)", JournalKey.error: "\(fault)",
                JournalKey.correlationID: "\(correlationID)",
            ]
        )
    }

    func storeRecovered() {
        write(.storeRecovered)
    }

    func storeAwaited(_ error: StoreError) {
        write(error.isLocked ? .storeLocked : .storeAwaited, [JournalKey.error: "\(error)"])
    }

    func rekeyed(_ outcome: Rekeying.Outcome) {
        let place = JournalDetail.newKey(outcome.place).text
        write(.storeRekeyed, [JournalKey.key: "\(outcome.key)", JournalKey.detail: "\(place)"])
        if let leftover = outcome.leftover { write(.oldKeyKept, [JournalKey.error: "\(leftover.description)"]) }
    }

    func rekeyFailed(_ error: StoreError) {
        write(.rekeyStopped, [JournalKey.error: "\(error)"])
    }

    /// Logs that a watch is not available.
    ///
    /// - Parameter consequence: how the daemon works without it.
    func unwatched(_ error: some Error, _ consequence: JournalDetail) {
        write(.machineUnwatched, [JournalKey.error: "\(error)", JournalKey.detail: "\(consequence.text)"])
    }

    /// Logs that the last daemon crashed.
    ///
    /// - Parameter requests: how many requests it had under way.
    func crashed(_ signal: Int32, during requests: Int) {
        write(.daemonCrashed, [JournalKey.detail: "signal \(signal), requests under way: \(requests)"])
    }

    /// Logs that fewer descriptors are allowed than the configured number of callers needs.
    func descriptorsLimited(to granted: Int, of wanted: Int) {
        write(.descriptorsLimited, [JournalKey.detail: "\(granted) of \(wanted)"])
    }

    func clockStepped(by step: Duration) {
        write(.clockStepped, [JournalKey.detail: "\(JournalDetail.clockMoved(by: step).text)"])
    }

    func resumed() {
        write(.resumed)
    }

    func routeChanged(isOnline: Bool) {
        write(isOnline ? .networkUp : .networkDown)
    }

    func write(_ event: JournalEvent, _ fields: Logger.Metadata = [:]) {
        var fields = fields
        fields[JournalEvent.messageIDKey] = .stringConvertible(event.id)
        logger.log(level: event.level, event.message, metadata: fields)
    }
}

extension LineBudget {
    /// The budget for lines about refused callers.
    fileprivate static var ofRefusals: LineBudget {
        LineBudget(
            linesMax: CallerLimits.refusalLinesMax,
            subjectsMax: CallerLimits.refusalSubjectsMax,
            stretch: CallerLimits.refusalStretch
        )
    }
}

extension Announcement {
    /// The journal event; nil for changes in steady state.
    fileprivate var journalEvent: JournalEvent? {
        switch self {
        case .added: .accountAdded
        case .updated, .renamed: .accountUpdated
        case .removed: .accountRemoved
        case .refreshStarted: nil
        case .signInStarted: .signInStarted
        case .signInFailed: .signInFailed
        case .stepUpRequired: .interactionRequired
        case .clientSecretRenewed: .clientSecretRenewed
        case .clientSecretEnding: .clientSecretEnding
        case .changed(let change):
            switch change {
            case .grantImported: .grantImported
            case .signedIn: .signedIn
            case .accessTokenObtained: .signedInWithoutRefreshToken
            case .parked: .accountParked
            case .unparked: .accountUnparked
            case .tokenRefreshed: .tokenRefreshed
            case .targetRefreshed: .targetRefreshed
            case .targetFailed: .targetFailed
            case .refreshFailed(let failure, _):
                failure.failureClass == .unanswered ? .outcomeUnknown : .refreshFailed
            case .interactionStillRequired: .refreshFailed
            case .misconfigured: .misconfigured
            case .interactionRequired: .interactionRequired
            case .refreshTokenExpiring: .refreshTokenExpiring
            case .signOutNear: .signOutNear
            case .signedOut, .signedOutByItself: .signedOut
            case .staleAnswerDropped: .staleAnswerDropped
            }
        }
    }
}

extension Logger.Metadata {
    fileprivate mutating func merge(_ change: AccountChange, _ snapshot: AccountSnapshot) {
        switch change {
        case .tokenRefreshed, .signedIn, .accessTokenObtained:
            self[JournalKey.expiresAt] = snapshot.state.accessToken.map {
                .stringConvertible($0.expiresAt(at: snapshot.at).microseconds)
            }
        case .targetRefreshed(let target):
            merge(target)
        case .targetFailed(let target, let failure):
            merge(target)
            merge(failure)
        case .refreshFailed(let failure, let retryAt), .misconfigured(let failure, let retryAt):
            merge(failure)
            self[JournalKey.retryAt] = "\(retryAt.microseconds)"
        case .interactionRequired(let interaction):
            merge(interaction.failure)
            self[JournalKey.reason] = "\(interaction.reason.rawValue)"
        case .interactionStillRequired(let interaction, let failure):
            merge(failure)
            self[JournalKey.reason] = "\(interaction.reason.rawValue)"
        case .refreshTokenExpiring(let expiresAt), .signOutNear(let expiresAt):
            self[JournalKey.expiresAt] = "\(expiresAt.microseconds)"
        case .staleAnswerDropped(let generation):
            self[JournalKey.generation] = "\(generation)"
        case .signedOutByItself: self[JournalKey.reason] = "forgetAfter"
        case .grantImported, .signedOut, .parked, .unparked: break
        }
    }

    fileprivate mutating func mergeSecretEnd(of snapshot: AccountSnapshot) {
        self[JournalKey.expiresAt] = snapshot.account.registration.clientSecretExpiresAt.map {
            .stringConvertible($0.microseconds)
        }
    }

    fileprivate mutating func merge(_ stepUp: StepUp) {
        self[JournalKey.reason] = "\(StepUp.reason)"
        self[JournalKey.error] = stepUp.error.map { "\($0)" }
        self[JournalKey.detail] = stepUp.description.map { "\($0)" }
    }

    private mutating func merge(_ target: TokenTarget) {
        self[JournalKey.tokenSet] = "\(target.text.split(separator: "\n").joined(separator: "; "))"
    }

    fileprivate mutating func merge(_ failure: RefreshFailure) {
        let detail = failure.detail
        self[JournalKey.error] = "\(detail.oauthError ?? detail.summary)"
        self[JournalKey.correlationID] = detail.correlationID.map { "\($0)" } ?? self[JournalKey.correlationID]
        let parts = [
            detail.oauthError == nil ? nil : detail.summary,
            detail.oauthErrorDescription, detail.subError, detail.providerCode, detail.httpStatus.map { "HTTP \($0)" },
        ].compactMap { $0 }
        if !parts.isEmpty { self[JournalKey.detail] = "\(parts.joined(separator: "; "))" }
    }
}

extension ChangeLog {
    /// Logs an event of the socket.
    func record(_ event: VarlinkServerEvent) {
        switch event {
        case .refused(.crowded(let resource, let crowding), let peer):
            crowded(by: Hoarder(resource.limit, crowding), peer?.pid ?? 0)
        case .refused(let refusal, let peer):
            var fields: Logger.Metadata = [JournalKey.error: "\(refusal)"]
            if let peer { fields[JournalKey.detail] = "pid \(peer.pid), uid \(peer.uid)" }
            writeRefusal(fields, after: refusalsAtSocket.spend(on: "\(refusal)"))
        case .pathRestored(let path):
            write(.socketRestored, [JournalKey.detail: "\(path)"])
        case .pathReturned(let path):
            write(.socketReturned, [JournalKey.detail: "\(path)"])
        case .pathLost(let path, let error):
            write(.socketLost, [JournalKey.detail: "\(path)", JournalKey.error: "\(error)"])
        case .pathUnwatched(let failure):
            unwatched(failure, .socketPathChecked(every: PathWatch.period))
        case .acceptFailed(let errno):
            write(.descriptorsExhausted, [JournalKey.error: "\(VarlinkServerError.cannotAccept(errno: errno))"])
        case .acceptResumed:
            write(.descriptorsReturned)
        }
    }
}

extension VarlinkServerEvent {
    /// Whether descriptors for callers have run out (true) or are available again (false); nil for other events.
    var areDescriptorsLacking: Bool? {
        switch self {
        case .acceptFailed: true
        case .acceptResumed: false
        case .refused, .pathRestored, .pathReturned, .pathLost, .pathUnwatched: nil
        }
    }
}

extension Refusal {
    /// The refusal as an error of our interface.
    var interfaceError: VarlinkError {
        switch self {
        case .peerNotAllowed(let uid):
            // In a user namespace of its own, the daemon cannot tell root from other users.
            UserNamespace.mapsRoot
                ? Complaint(.denied, "the daemon serves its own user and root, not uid \(uid)").error
                : Complaint(
                    .denied,
                    "the daemon serves its own user only: its sandbox (PrivateUsers=yes) cannot tell root from other users"
                ).error
        case .peerUnknown:
            Complaint(.denied, "the kernel did not say who is calling").error
        case .crowded(let resource, let crowding):
            Hoarder(resource.limit, crowding).error
        case .messageTooLong(let limit):
            VarlinkError(LimitExceededError(.messageBytes, maximum: limit))
        case .repliesNotRead(let limit):
            VarlinkError(SubscriberFellBehindError(unreadBytesMax: limit))
        case .messageMalformed, .messageIncomplete:
            standardError
        }
    }
}

/// Events of the daemon as a process.
enum DaemonEvent: Sendable {
    case signal(SignalWatch.Signal)
    /// Descriptors for callers have run out, or are available again.
    case descriptors(areLacking: Bool)
    /// The result of an attempt to open the store.
    case store(StoreOpener.Answer)
    /// Another store is where the open one was, and nothing is left to be stored.
    case storeReplaced(StoreError)
}
