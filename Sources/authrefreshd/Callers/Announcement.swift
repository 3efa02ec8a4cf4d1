internal import RefreshCore

/// Something that happened to an account, as subscribers and the journal are told.
enum Announcement: Sendable {
    case added
    case updated
    case renamed(from: AccountName)
    case removed
    case refreshStarted
    /// The flow says how the person's answer comes back.
    case signInStarted(flow: String)
    /// The reason has no secret in it and no words of the server.
    case signInFailed(reason: String)
    /// A resource server wants more than the grant has.
    case stepUpRequired(StepUp)
    /// The server has given the client another secret.
    case clientSecretRenewed
    /// The client secret ends soon. The failure says why the daemon could not renew it; nil if only a person can.
    case clientSecretEnding(RefreshFailure?)
    case changed(AccountChange)

    /// Whether the account is gone.
    var isRemoval: Bool {
        if case .removed = self { true } else { false }
    }

    /// The name that the account had before; nil if it has not changed.
    var previousName: String? {
        if case .renamed(let name) = self { name.text } else { nil }
    }

    /// All names that `wireName` gives.
    static let wireNames: Set<String> = [
        "account-added", "account-updated", "account-renamed", "account-removed", "refresh-started", "sign-in-started",
        "sign-in-failed", "interaction-required", "client-secret-ending", "grant-imported", "signed-in",
        "account-parked",
        "account-resumed", "token-refreshed", "token-set-refreshed", "token-set-failed", "refresh-failed",
        "misconfigured",
        "refresh-token-expiring", "sign-out-near", "signed-out",
    ]

    /// The event's name on the wire; nil if only the journal is told.
    var wireName: String? {
        switch self {
        case .added: "account-added"
        case .updated: "account-updated"
        case .renamed: "account-renamed"
        case .removed: "account-removed"
        case .refreshStarted: "refresh-started"
        case .signInStarted: "sign-in-started"
        case .signInFailed: "sign-in-failed"
        case .stepUpRequired: "interaction-required"
        case .clientSecretRenewed: "account-updated"
        case .clientSecretEnding: "client-secret-ending"
        case .changed(let change):
            switch change {
            case .grantImported: "grant-imported"
            case .signedIn, .accessTokenObtained: "signed-in"
            case .parked: "account-parked"
            case .unparked: "account-resumed"
            case .tokenRefreshed: "token-refreshed"
            case .targetRefreshed: "token-set-refreshed"
            case .targetFailed: "token-set-failed"
            case .refreshFailed, .interactionStillRequired: "refresh-failed"
            case .misconfigured: "misconfigured"
            case .interactionRequired: "interaction-required"
            case .refreshTokenExpiring: "refresh-token-expiring"
            case .signOutNear: "sign-out-near"
            case .signedOut, .signedOutByItself: "signed-out"
            case .staleAnswerDropped: nil
            }
        }
    }
}
