/// The limits that a caller can reach, by the names that `LimitExceeded` gives them.
///
/// What each is, and why, is said where the daemon sets it (`CallerLimits`, `ServerLimits`).
package enum Limit: String, CaseIterable, Sendable {
    /// Accounts that are kept.
    case accounts
    /// Units and executables that one account is for.
    case allowedCallers
    /// Connections open at once, of all callers together.
    case connections
    /// Connections open at once, of one user's programs.
    case connectionsOfUser
    /// Accounts whose tokens are derived from one account.
    case derivedAccounts
    /// Calls of `Diagnose` under way at once.
    case diagnoses
    /// Registrations, sign-outs and proofs of imported grants under way at once.
    case serverCalls
    /// Bytes of one call.
    case messageBytes
    /// Accounts named in one call.
    case page
    /// Bytes of a token or of a client secret that is brought in.
    case secretBytes
    /// Bytes of one account's settings.
    case settingsBytes
    /// Sign-ins under way at once.
    case signIns
    /// Accounts that one subscriber follows.
    case subscribedAccounts
    /// Subscribers at once.
    case subscribers
    /// Bytes of the scopes, resources and audience of a token set.
    case tokenSetBytes
    /// Token sets of an account with a valid token, and those that are waited for.
    case tokenSets
    /// Bytes of replies that no process has read; the one with the most gives way.
    case unreadBytes
    /// Bytes of replies that one process has not read, on all its connections.
    case unreadBytesOfProcess
    /// Bytes of calls that no process has finished; the one with the most gives way.
    case unfinishedBytes
    /// Bytes of calls that a process has not finished.
    case unfinishedBytesOfProcess
}
