internal import AuthRefreshInterface
internal import Basics

// The results with `--json` that are neither replies of the interface nor members of one type. The documentation's page
// "JSON-of-authctl" lists the fields.

/// The result of `authctl status`.
struct StatusAnswer: Encodable {
    let accounts: [AccountStatus]
    let daemon: GetInfo.Reply
}

/// The result of `authctl account show`.
struct AccountAnswer: Encodable {
    /// The settings; nil if the store cannot read them.
    let settings: AccountSettings?
    let status: AccountStatus?
}

/// The result of `authctl apply`.
struct ApplyAnswer: Encodable {
    let accounts: [AppliedAccount]
    /// Whether anything was changed, or would be.
    let changed: Bool
    let dryRun: Bool
}

/// The result of `authctl account remove`.
struct RemoveAnswer: Encodable {
    let account: String
    let removed: Bool
}

/// The result of `authctl logout`.
struct LogoutAnswer: Encodable {
    var accounts: [Account]

    struct Account: Encodable {
        let account: String
        var steps: [SignOutStep]
        var endSessionHost: String?
        /// The address that ends the session; nil if it was opened.
        var endSessionUrl: String?
    }
}

/// The result of commands that create a file.
struct FileAnswer: Encodable {
    let path: String
    var bytes: Int?
    var keys: [String]?
}

/// The result of `authctl doctor`.
struct DoctorAnswer: Encodable {
    let findings: [Finding]
    let exitStatus: Int32

    init(_ report: DoctorReport) {
        findings = report.findings
        exitStatus = report.status.rawValue
    }
}
