internal import AuthRefreshInterface
internal import Basics

// The results with `--json` that are not plain replies of the interface. The documentation's page "JSON-of-authctl"
// lists the fields.

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

/// The file that `authctl apply` reads and `authctl account export --settings` writes.
struct SettingsAnswer: Encodable {
    let accounts: [AccountSettings]
}

/// The result of `authctl apply`.
struct ApplyAnswer: Encodable {
    let accounts: [AppliedAccount]
    /// Whether anything was changed, or would be.
    let changed: Bool
    let dryRun: Bool
}

/// The result of `authctl account rename`.
struct RenameAnswer: Encodable {
    let account: String
    let previousName: String
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

/// The result of `authctl account link-token-file`.
struct TokenFileLinkAnswer: Encodable {
    let path: String
    let target: String
    let settings: String
}

/// The result of commands that create a file.
struct FileAnswer: Encodable {
    let path: String
    var bytes: Int?
    var keys: [String]?
}

/// The result of `authctl provider show`.
struct ProviderAnswer: Encodable {
    let provider: ProviderDescription
}

/// The result of `authctl interface`.
struct InterfaceAnswer: Encodable {
    let description: String
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

/// The result of `authctl version --json`.
struct VersionAnswer: Encodable, Sendable {
    let authctl: String
    /// The daemon's version; nil if no daemon answers.
    let authrefreshd: String?
}
