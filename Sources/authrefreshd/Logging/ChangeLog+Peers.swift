internal import AuthRefreshInterface
internal import Logging
internal import Systemd
internal import Varlink

extension ChangeLog {
    /// What happened at the socket.
    func record(_ event: VarlinkServerEvent) {
        switch event {
        case .refused(let refusal, let peer):
            var fields: Logger.Metadata = [JournalKey.error: "\(refusal)"]
            if let peer { fields[JournalKey.detail] = "pid \(peer.pid), uid \(peer.uid)" }
            writeRefusal(fields, after: refusalsAtSocket.spend(on: refusal))
        case .pathRestored(let path):
            write(.socketRestored, [JournalKey.detail: "\(path)"])
        case .pathReturned(let path):
            write(.socketReturned, [JournalKey.detail: "\(path)"])
        case .pathLost(let path, let error):
            write(.socketLost, [JournalKey.detail: "\(path)", JournalKey.error: "\(error)"])
        case .acceptFailed(let errno):
            write(.descriptorsExhausted, [JournalKey.error: "\(VarlinkServerError.cannotAccept(errno: errno))"])
        case .acceptResumed:
            write(.descriptorsReturned)
        }
    }
}

extension VarlinkServerEvent {
    /// Whether there are no descriptors for callers from now on; nil if it is about something else.
    var areDescriptorsLacking: Bool? {
        switch self {
        case .acceptFailed: true
        case .acceptResumed: false
        case .refused, .pathRestored, .pathReturned, .pathLost: nil
        }
    }
}

extension Refusal {
    /// The refusal as an error of our interface.
    var interfaceError: VarlinkError {
        switch self {
        case .peerNotAllowed(let uid):
            VarlinkError(PermissionDeniedError(reason: UserNamespace.mapsRoot ? Self.otherUser(uid) : Self.unknownUser))
        case .peerUnknown:
            VarlinkError(PermissionDeniedError(reason: "the kernel did not say who is calling"))
        case .tooManyConnections(let limit):
            VarlinkError(LimitExceededError(.connections, maximum: limit))
        case .tooManyConnectionsOfUser(let limit):
            VarlinkError(LimitExceededError(.connectionsOfUser, maximum: limit))
        case .messageTooLong(let limit):
            VarlinkError(LimitExceededError(.messageBytes, maximum: limit))
        case .processFinishesTooLittle(let limit):
            VarlinkError(LimitExceededError(.unfinishedBytesOfProcess, maximum: limit))
        case .processFinishesLeast(let limit):
            VarlinkError(LimitExceededError(.unfinishedBytes, maximum: limit))
        case .repliesNotRead(let limit):
            VarlinkError(SubscriberFellBehindError(unreadBytesMax: limit))
        case .processReadsTooLittle(let limit):
            VarlinkError(LimitExceededError(.unreadBytesOfProcess, maximum: limit))
        case .processReadsLeast(let limit):
            VarlinkError(LimitExceededError(.unreadBytes, maximum: limit))
        case .messageMalformed, .messageIncomplete:
            standardError
        }
    }

    private static func otherUser(_ uid: UInt32) -> String {
        "the daemon serves its own user and root, not uid \(uid)"
    }

    private static let unknownUser =
        "the daemon serves its own user only: in its user namespace (PrivateUsers=yes) root and other users look alike"
}
