internal import AccountStorage
internal import AuthRefreshInterface
internal import Logging
internal import RefreshCore
internal import Synchronization
internal import Systemd
internal import Varlink

/// Writes changes to the log: one line each, with a constant text and the values in fields, and without secrets.
final class ChangeLog: Sendable {
    let logger: Logger
    /// The budget for refusals at the socket, for each reason and user.
    private let refusalsAtSocket = Mutex(LineBudget<String>.ofRefusals)
    /// The budget for refusals by accounts' lists.
    private let refusalsByLists = Mutex(LineBudget<AccountName>.ofRefusals)
    /// Who held too much, at the latest refusal for each limit.
    private let hoarders = Mutex<[String: (text: String, at: ContinuousClock.Instant)]>([:])

    init(logger: Logger) {
        self.logger = logger
    }

    func write(_ event: JournalEvent) {
        logger.log(level: event.level, event.message, metadata: event.fields)
    }

    /// Writes a line about an account.
    func write(_ event: JournalEvent, about snapshot: AccountSnapshot, _ news: AccountNews?, correlationID: String?) {
        guard event.level >= logger.logLevel else { return }
        write(event.about(snapshot, news, correlationID: correlationID))
    }

    /// Logs that a caller is not on an account's list.
    func denied(_ reason: String, of account: AccountName) {
        guard let leftOut = refusalsByLists.withLock({ $0.spend(on: account) }) else { return }
        write(.peerRefused(reason, account: account, leftOut: leftOut))
    }

    /// Logs that `process` was refused because of what a program holds.
    func crowded(_ refusal: LimitExceededError, _ process: Int32) {
        let holder = refusal.holder ?? ""
        hoarders.withLock { $0[refusal.limit] = (holder, .now) }
        guard let leftOut = refusalsAtSocket.withLock({ $0.spend(on: refusal.limit) }) else { return }
        write(.peerRefused(holder, detail: "pid \(process)", leftOut: leftOut))
    }

    /// Who held too much within the last hour, and how long ago that was, for `authctl doctor`. The program may have
    /// ended meanwhile.
    func recentHoarders(at now: ContinuousClock.Instant = .now) -> [(text: String, ago: Duration)] {
        hoarders.withLock(\.self).sorted { $0.key < $1.key }.map { (text: $1.text, ago: now - $1.at) }
            .filter { $0.ago < .seconds(3600) }
    }

    /// Logs an event of the socket.
    func record(_ event: VarlinkServerEvent) {
        switch event {
        case .refused(.crowded(let resource, let crowding), let peer):
            crowded(LimitExceededError(resource.limit, crowding), peer?.pid ?? 0)
        case .refused(let refusal, let peer):
            guard let leftOut = refusalsAtSocket.withLock({ $0.spend(on: "\(refusal)") }) else { return }
            let detail = peer.map { "pid \($0.pid), uid \($0.uid)" }
            write(.peerRefused("\(refusal)", detail: detail, leftOut: leftOut))
        case .pathRestored(let path): write(.socketRestored(path))
        case .pathReturned(let path): write(.socketReturned(path))
        case .pathLost(let path, let error): write(.socketLost(path, error))
        case .pathUnwatched(let error):
            let period = PathWatch.period.components.seconds
            write(.machineUnwatched(error, consequence: "the socket's path is checked every \(period) s instead"))
        case .acceptFailed(let error): write(.descriptorsExhausted(error))
        case .acceptResumed: write(.descriptorsReturned)
        }
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

extension PeerFinding {
    /// The refusal as an error of our interface.
    var interfaceError: VarlinkError {
        switch self {
        case .peerNotAllowed(let uid):
            // In a user namespace of its own, the daemon cannot tell root from other users.
            OwnProcess.mapsRoot
                ? PermissionDeniedError(reason: "the daemon serves its own user and root, not uid \(uid)").error
                : PermissionDeniedError(
                    reason: "the daemon serves its own user only: its sandbox (PrivateUsers=yes) cannot tell root from "
                        + "other users"
                ).error
        case .peerUnknown:
            PermissionDeniedError(reason: "the kernel did not say who is calling").error
        case .crowded(let resource, let crowding):
            LimitExceededError(resource.limit, crowding).error
        case .messageTooLong(let limit):
            LimitExceededError(.messageBytes, maximum: limit).error
        case .repliesNotRead(let limit):
            SubscriberFellBehindError(unreadBytesMax: Int64(limit)).error
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
