internal import AccountStorage
internal import Logging
internal import Systemd

/// The lines of the journal. What varies is in fields; `systemd/authrefreshd.catalog` explains each line.
extension JournalEvent {
    /// Constant text: lower case, no full stop.
    var message: Logger.Message {
        switch self {
        case .daemonStarted: "authrefreshd has started"
        case .daemonCrashed: "the previous daemon crashed"
        case .daemonStopping: "authrefreshd is stopping"
        case .accountAdded: "account added"
        case .accountUpdated: "account updated"
        case .accountRemoved: "account removed"
        case .grantImported: "grant imported"
        case .signInStarted: "sign-in started"
        case .signInFailed: "sign-in ended without tokens; the account is unchanged"
        case .signedIn: "signed in"
        case .signedInWithoutRefreshToken: "signed in without a new refresh token; the previous one is kept"
        case .accountParked: "account parked: exported to be moved, and no longer refreshed here"
        case .storeFromOtherMachine: "the store came from another machine, which may still use its grants"
        case .accountUnparked: "account resumed: it is refreshed here again"
        case .tokenRefreshed: "access token refreshed"
        case .targetRefreshed: "token set obtained"
        case .targetFailed: "token set could not be obtained; the account is unchanged"
        case .refreshFailed: "refresh failed, retrying"
        case .idTokenRefused: "tokens refreshed, but the ID token that came with them was rejected"
        case .outcomeUnknown: "the answer to a refresh was lost, and the refresh token may be used up; retrying"
        case .interactionRequired: "interaction required"
        case .misconfigured: "the server rejects the account's settings; the tokens are kept; retrying"
        case .refreshTokenExpiring: "the refresh token expires soon"
        case .signOutNear: "the account signs out by itself soon"
        case .signedOut: "signed out"
        case .clientSecretRenewed: "the server has issued a new client secret"
        case .clientSecretEnding: "the client secret expires soon"
        case .clockStepped: "the wall clock was stepped"
        case .resumed: "the machine woke up"
        case .networkUp: "a network route is up"
        case .networkDown: "no network; refreshes wait"
        case .configurationReloaded: "configuration reloaded"
        case .configurationRejected: "the new configuration is invalid; the previous one stays in force"
        case .storeUnwritable: "the store cannot be used; retrying; valid tokens are still handed out"
        case .accountDamaged: "an account cannot be read from the store, and is set aside; the others work"
        case .decisionRefused: "a change contradicts the store, and was not stored"
        case .staleAnswerDropped: "an answer for an earlier grant was dropped"
        case .peerRefused: "a caller was refused"
        case .storeRekeyed: "the store is encrypted with a new key"
        case .rekeyStopped: "the change of the store's key stopped; both keys stay in use"
        case .oldKeyKept: "the store's old key could not be destroyed"
        case .storeLocked: "the store's key is locked, waiting for it"
        case .storeAwaited: "the store cannot be opened yet, waiting"
        case .storeRecovered: "the store can be used again"
        case .storeLogLost: "the store's write-ahead log was removed; its contents are safe in the database"
        case .socketLost: "the socket was removed, and cannot be made again now"
        case .socketRestored: "the socket was removed, and is back"
        case .socketReturned: "the socket was removed; the service manager makes it again"
        case .descriptorsLimited: "the limit of open files is too low for max_connections"
        case .descriptorsExhausted: "no file descriptor is left for callers, who wait"
        case .descriptorsReturned: "there are file descriptors for callers again"
        case .keyGone: "the store's key is gone; this daemon still works, but a restart would fail"
        case .keyReturned: "the store's key is back"
        case .logDropped: "log lines were dropped because the journal did not take them"
        case .issuerBehind: "the server's accounts need more refreshes than it answers; they wait for their turn"
        case .issuerCaughtUp: "no account of the server waits for its turn any more"
        case .tokenFilesFailed: "a token file could not be written, retrying"
        case .tokenFilesWritten: "all token files are written again"
        case .changeCommandFailed: "the on_change command was not run"
        case .machineUnwatched: "the daemon cannot watch a part of the machine"
        }
    }
}

/// A detail of a line of the journal, or a line that has no message id.
enum JournalDetail {
    case clockStepsUnnoticed
    case networkAssumed
    case socketPathChecked(every: Duration)
    case storeFilesChecked(every: Duration)
    case noSystemBus
    case systemBusGone
    case answerOverdue
    case socketUnitUnchanged
    case restartNeeded(keys: [String])
    case tooManyChanges(limit: Int)
    case managerUnreachable(SystemdError)
    /// `reason` is the service manager's own.
    case unitRefused(reason: String)
    case clockMoved(by: Duration)
    /// Where the store's new key is.
    case newKey(StoreKeyPlace)

    /// Lower case, no full stop.
    var text: String {
        switch self {
        case .clockStepsUnnoticed: "the daemon does not notice clock steps at once"
        case .networkAssumed: "the daemon assumes that the network is up"
        case .socketPathChecked(let period):
            "the socket's path is checked every \(period.components.seconds) s instead"
        case .storeFilesChecked(let period):
            "the store's files are checked every \(period.components.seconds) s instead"
        case .noSystemBus: "there is no system bus; the daemon notices sleep by comparing clocks"
        case .systemBusGone: "the system bus is gone; the daemon notices sleep by comparing clocks"
        case .answerOverdue: "the server has not answered in time; the daemon still waits for its answer"
        case .socketUnitUnchanged: "the socket unit cannot be restarted"
        case .restartNeeded(let keys): "\(keys.joined(separator: ", ")): takes effect with a restart"
        case .tooManyChanges(let limit): "the changes of more than \(limit) accounts wait"
        case .managerUnreachable(let error): "the user's service manager cannot be reached: \(error)"
        case .unitRefused(let reason): reason
        case .clockMoved(let step): "\(step.words) \(step < .zero ? "back" : "forward")"
        case .newKey(.credential): "the systemd credential '\(StoreKeySource.name)'"
        case .newKey(.nextCredential): "the systemd credential '\(StoreKeySource.nextName)'"
        case .newKey(.secretService): "the Secret Service"
        // A next file becomes the key file as soon as that can be written.
        case .newKey(.file), .newKey(.nextFile): "the key file"
        }
    }
}
