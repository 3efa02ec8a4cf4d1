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
    case getStatus = "io.authrefresh.GetStatus"
    case listAccounts = "io.authrefresh.ListAccounts"
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
    case signOut = "io.authrefresh.SignOut"
    case backupStore = "io.authrefresh.BackupStore"
    case listProviders = "io.authrefresh.ListProviders"
    case discoverProvider = "io.authrefresh.DiscoverProvider"
    case rekeyStore = "io.authrefresh.RekeyStore"
    case checkStore = "io.authrefresh.CheckStore"
    case diagnose = "io.authrefresh.Diagnose"
}
