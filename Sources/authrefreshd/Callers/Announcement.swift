internal import RefreshCore

/// An event of an account, for subscribers and the journal.
enum Announcement: Sendable {
    case added
    case updated
    case renamed(from: AccountName)
    case removed
    case refreshStarted
    /// A sign-in began; the flow says how the person's answer comes back.
    case signInStarted(flow: String)
    /// A sign-in failed. The reason contains no secret and no text of the server.
    case signInFailed(reason: String)
    /// A resource server requires more than the grant has.
    case stepUpRequired(StepUp)
    /// The server has issued a new client secret.
    case clientSecretRenewed
    /// The client secret expires soon. The failure says why the daemon could not renew it; nil if only a person can.
    case clientSecretEnding(RefreshFailure?)
    case changed(AccountChange)

    /// Whether the account is gone.
    var isRemoval: Bool {
        if case .removed = self { true } else { false }
    }

    /// The account's previous name; nil if it has not changed.
    var previousName: String? {
        if case .renamed(let name) = self { name.text } else { nil }
    }

    /// The event's name on the wire; nil if it is only for the journal.
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
