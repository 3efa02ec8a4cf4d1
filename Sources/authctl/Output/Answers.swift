internal import AuthRefreshInterface
internal import CommandLineProgram

// What `--json` prints where it is not a reply of the interface as it came. The documentation's page "JSON-of-authctl" lists the fields.

/// Of `authctl status`.
struct StatusAnswer: Encodable {
    let accounts: [AccountStatus]
    let daemon: GetInfo.Reply
}

/// Of `authctl account show`.
struct AccountAnswer: Encodable {
    /// Nil if the store cannot read them.
    let settings: AccountSettings?
    let status: AccountStatus?
}

/// Of `authctl account rename`.
struct RenameAnswer: Encodable {
    let account: String
    let previousName: String
}

/// Of `authctl account remove`.
struct RemoveAnswer: Encodable {
    let account: String
    let removed: Bool
}

/// Of `authctl logout`.
struct LogoutAnswer: Encodable {
    var accounts: [Account]

    struct Account: Encodable {
        let account: String
        var steps: [SignOutStep]
        var endSessionHost: String?
        /// Nil if it was opened.
        var endSessionUrl: String?
    }
}

/// Of `authctl account link-token-file`.
struct TokenFileLinkAnswer: Encodable {
    let path: String
    let target: String
    let settings: String
}

/// Of commands that make a file.
struct FileAnswer: Encodable {
    let path: String
    var bytes: Int?
    var keys: [String]?
}

/// Of `authctl provider show`.
struct ProviderAnswer: Encodable {
    let provider: ProviderDescription
}

/// Of `authctl interface`.
struct InterfaceAnswer: Encodable {
    let description: String
}

/// Of `authctl doctor`.
struct DoctorAnswer: Encodable {
    let findings: [Finding]
    let exitStatus: Int32

    init(_ report: DoctorReport) {
        findings = report.findings
        exitStatus = report.status.rawValue
    }
}

/// What `authctl version` prints with `--json`.
struct VersionAnswer: Encodable, Sendable {
    let authctl: String
    /// Nil if no daemon answers.
    let authrefreshd: String?
}
