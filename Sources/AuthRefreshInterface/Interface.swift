/// The interface's name and text.
package enum Interface {
    package static let name = "io.authrefresh"

    /// The interface description, as `GetInterfaceDescription` gives it.
    package static var text: String {
        String(decoding: PackageResources.io_authrefresh_varlink, as: UTF8.self)
    }

    /// Accounts in the largest page that `GetStatus` and `ListAccounts` give: about 300 KiB of JSON, and never more than the
    /// 16 MiB that `authctl` reads, for an account's settings have a limit too (`Limit.settingsBytes`).
    package static let largestPage = 500
}

/// The methods of `io.authrefresh`.
package enum Method: String, CaseIterable, Sendable {
    case getInfo = "io.authrefresh.GetInfo"
    case getMetrics = "io.authrefresh.GetMetrics"
    case getStatus = "io.authrefresh.GetStatus"
    case listAccounts = "io.authrefresh.ListAccounts"
    case findAccount = "io.authrefresh.FindAccount"
    case listUrls = "io.authrefresh.ListUrls"
    case addAccount = "io.authrefresh.AddAccount"
    case updateAccount = "io.authrefresh.UpdateAccount"
    case renameAccount = "io.authrefresh.RenameAccount"
    case removeAccount = "io.authrefresh.RemoveAccount"
    case importGrant = "io.authrefresh.ImportGrant"
    case exportGrant = "io.authrefresh.ExportGrant"
    case resumeAccount = "io.authrefresh.ResumeAccount"
    case acquireToken = "io.authrefresh.AcquireToken"
    case provePossession = "io.authrefresh.ProvePossession"
    case reportRejected = "io.authrefresh.ReportRejected"
    case refresh = "io.authrefresh.Refresh"
    case subscribe = "io.authrefresh.Subscribe"
    case startSignIn = "io.authrefresh.StartSignIn"
    case continueSignIn = "io.authrefresh.ContinueSignIn"
    case cancelSignIn = "io.authrefresh.CancelSignIn"
    case startWebSession = "io.authrefresh.StartWebSession"
    case serveConfirmations = "io.authrefresh.ServeConfirmations"
    case answerConfirmation = "io.authrefresh.AnswerConfirmation"
    case signOut = "io.authrefresh.SignOut"
    case backupStore = "io.authrefresh.BackupStore"
    case listProviders = "io.authrefresh.ListProviders"
    case discoverProvider = "io.authrefresh.DiscoverProvider"
    case checkServer = "io.authrefresh.CheckServer"
    case rekeyStore = "io.authrefresh.RekeyStore"
    case checkStore = "io.authrefresh.CheckStore"
    case diagnose = "io.authrefresh.Diagnose"
}

/// The limits that a caller can reach, by the names that `LimitExceeded` gives them.
///
/// What each is, and why, is said where the daemon sets it (`CallerLimits`, `ServerLimits`).
package enum Limit: String, CaseIterable, Sendable {
    /// Accounts that are kept.
    case accounts
    /// Agents that ask the user.
    case agents
    /// Units and executables that one account is for.
    case allowedCallers
    /// Questions that the user has not answered.
    case confirmations
    /// Those of one program.
    case confirmationsOfProgram
    /// Connections open at once, of all callers together.
    case connections
    /// Connections open at once, of one user's programs.
    case connectionsOfUser
    /// Accounts whose tokens are derived from one account.
    case derivedAccounts
    /// Calls of `Diagnose`, `DiscoverProvider` and `CheckServer` under way at once.
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
    /// Accounts whose token stands in a file.
    case tokenFiles
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
    /// Addresses for which tools take one account.
    case urls
    /// Web sessions under way at once.
    case webSessions
    /// Web sessions of one process under way at once.
    case webSessionsOfProcess
}

/// The version of the package, and so of all its programs.
package enum Version {
    /// What `--version` prints and `GetInfo` answers: `0.1.0`.
    package static let text = "0.1.0"
}
