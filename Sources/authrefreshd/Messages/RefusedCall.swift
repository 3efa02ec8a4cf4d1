internal import AuthRefreshInterface
internal import RefreshCore

/// Why a call brings nothing now. `authctl` shows it as "no valid token for 'work' now: REASON".
enum NotNow: Hashable, CaseIterable {
    case serverIsSlow
    case offline
    case waitsForTurn
    case refreshTakesLong
    case claimsNotAsked
    case callerHangs
    case listHangs

    /// Lower case, no full stop.
    var reason: String {
        switch self {
        case .serverIsSlow: "the server has not answered yet; the daemon still waits for its answer"
        case .offline: "there is no network; the daemon tries again when there is one"
        case .waitsForTurn: "a refresh is due, and waits for its turn"
        case .refreshTakesLong:
            "the refresh has taken longer than \(Waiter.timeLimit.components.seconds) s; the daemon continues it"
        case .claimsNotAsked: "the server could not be asked for the claims"
        case .callerHangs: "the file system of the caller's executable does not answer"
        case .listHangs:
            "the file system of the caller's executable, or of one on the account's list, does not answer"
        }
    }
}

/// Why a caller is not permitted. `authctl` shows it as "not permitted: REASON".
enum Denial: Hashable {
    /// `caller` describes the process that called.
    case notOnList(account: AccountName, allowed: String, caller: String)
    case deniedByUser(account: AccountName)
    case unanswered(account: AccountName)
    case noAgent(account: AccountName)
    case otherUser(uid: UInt32)
    /// In the daemon's user namespace, root and other users cannot be told apart.
    case otherUserInNamespace
    case unknownCaller
}

extension Denial {
    /// Lower case, no full stop.
    var reason: String {
        switch self {
        case .notOnList(let account, let allowed, let caller): "'\(account)' is for \(allowed) only; \(caller)"
        case .deniedByUser(let account): "you denied this on your desktop, where '\(account)' asks first"
        case .unanswered(let account): "nobody answered the question on your desktop, where '\(account)' asks first"
        case .noAgent(let account):
            "'\(account)' needs your consent on the desktop, and authagent, which would ask you, is not running"
        case .otherUser(let uid): "the daemon serves its own user and root, not uid \(uid)"
        case .otherUserInNamespace:
            "the daemon serves its own user only: its sandbox (PrivateUsers=yes) cannot tell root from other users"
        case .unknownCaller: "the kernel did not say who is calling"
        }
    }

    /// What to do; nil where there is nothing to do for this caller.
    var hint: String? {
        switch self {
        case .notOnList(let account, _, _):
            "call from there; only from there can the list be changed ('authctl account edit \(account)'),"
                + " or remove the account with 'authctl account remove \(account)' and add it again"
        case .deniedByUser: "ask again in a minute"
        case .unanswered: "answer the notification on your desktop"
        case .noAgent: "systemctl --user start authrefresh-agent"
        case .otherUser, .otherUserInNamespace, .unknownCaller: nil
        }
    }

    /// The error of the interface.
    var error: PermissionDeniedError { PermissionDeniedError(reason: reason, hint: hint) }
}

/// Why work on the whole store was not done. `authctl` shows it as "the daemon's store is not available: REASON".
enum StoreWork: Hashable {
    case rekeyInterrupted
    case backupInterrupted
    case checkInterrupted
    /// The check works on a copy; `cause` says why there is none, and `hint` what helps.
    case notCopied(cause: String, hint: String?)
    /// The copy needs as much space as the store.
    case noSpaceForCopy(cause: String)
}

extension StoreWork {
    /// Lower case, no full stop.
    var reason: String {
        switch self {
        case .rekeyInterrupted: "the daemon is stopping; it continues the change of the key when it starts again"
        case .backupInterrupted: "the daemon is stopping; no backup was made"
        case .checkInterrupted: "the daemon is stopping; the check is incomplete"
        case .notCopied(let cause, _), .noSpaceForCopy(let cause): "it cannot be copied for the check: \(cause)"
        }
    }

    /// What to do, with the command.
    var hint: String {
        switch self {
        case .rekeyInterrupted: "authctl store rekey waits until that is done"
        case .backupInterrupted: "repeat the command: authctl store backup FILE"
        case .checkInterrupted: "repeat the command: authctl store check"
        case .notCopied(_, let hint): hint ?? "authctl status"
        case .noSpaceForCopy: "the check works on a copy: free as much space as the store takes"
        }
    }

    /// The error of the interface.
    var error: StoreUnavailableError { StoreUnavailableError(reason: reason, hint: hint) }
}

/// What keeps an account from getting a token, or losing its grant, without the server having been asked.
enum LocalFailure: Hashable {
    case noRefreshToken
    case changedMeanwhile
    case noSessionEnd
    case grantChangedMeanwhile
    case notRevoked
    case notRevokedNow
    /// The daemon was stopped while a sign-out waited for a refresh.
    case notRevokedBeforeStop
    /// The answer to a refresh is overdue, and its token could not be revoked.
    case answerOverdue
    /// The account `source`, from which this one is derived, gives no token.
    case source(AccountName, SourceFlaw)

    /// Lower case, no full stop.
    var summary: String {
        switch self {
        case .noRefreshToken: "the store has no refresh token for this account"
        case .changedMeanwhile: "the account's server or client was changed meanwhile"
        case .noSessionEnd: "the server publishes no address where a session ends"
        case .grantChangedMeanwhile: "the grant was replaced meanwhile; the new one is kept"
        case .notRevoked: "the server does not revoke tokens"
        case .notRevokedNow: "the server cannot revoke tokens now"
        case .notRevokedBeforeStop: "the daemon was stopped before it could revoke the tokens"
        case .answerOverdue: "the server has not answered a refresh, and may still issue a token"
        case .source(let name, let flaw): "this account is derived from '\(name)', which \(flaw.words)"
        }
    }
}

/// What an account lacks that another one's token is derived from.
enum SourceFlaw: Hashable {
    case removed
    case damaged
    case otherIssuer
    case noSuchToken
    case needsSignIn
    case signedOut
    case parked
    case misconfigured
    case noTokenNow
    case listHangs(allowed: String)
    case notOnList(allowed: String, program: String?)

    /// Completes "the account …, which".
    var words: String {
        switch self {
        case .removed: "was removed"
        case .damaged: "cannot be read"
        case .otherIssuer: "belongs to another issuer"
        case .noSuchToken: "has no token of this type"
        case .needsSignIn: "needs a sign-in"
        case .signedOut: "is signed out"
        case .parked: "is parked"
        case .misconfigured: "is misconfigured"
        case .noTokenNow: "has no valid token now"
        case .listHangs(let allowed): "is for \(allowed) only, whose file system does not answer"
        case .notOnList(let allowed, let program):
            "is for \(allowed) only, but this account was set up by \(program ?? "an unknown program")"
        }
    }
}
