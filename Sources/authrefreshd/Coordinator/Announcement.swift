internal import RefreshCore

/// Something about an account that subscribers are told.
enum Announcement: Sendable {
    case added
    case updated
    case renamed(from: AccountName)
    case removed
    case refreshStarted
    /// How the person's answer is to come back.
    case signInStarted(flow: String)
    /// Why it brought no tokens; no secret, no words of the server's.
    case signInFailed(reason: String)
    /// A resource server wants more than the grant has.
    case stepUpRequired(StepUp)
    /// The server has given the client another secret.
    case clientSecretRenewed
    /// The server takes the client secret not for long any more. Why there is no other; nil if only a person can bring one.
    case clientSecretEnding(RefreshFailure?)
    case changed(AccountChange)

    var isRemoval: Bool {
        if case .removed = self { true } else { false }
    }

    /// What the account was called before, if that has changed.
    var previousName: String? {
        if case .renamed(let name) = self { name.text } else { nil }
    }

    /// The event's name on the wire; nil for what only the journal is told.
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
            case .tokenSetRefreshed: "token-set-refreshed"
            case .tokenSetFailed: "token-set-failed"
            case .refreshFailed, .interactionStillRequired: "refresh-failed"
            case .misconfigured: "misconfigured"
            case .interactionRequired: "interaction-required"
            case .refreshTokenExpiring: "refresh-token-expiring"
            case .signedOut: "signed-out"
            case .staleAnswerDropped: nil
            }
        }
    }
}
