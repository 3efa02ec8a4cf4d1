internal import RefreshCore

/// Something about an account that subscribers are told.
enum Announcement: Sendable {
    case added
    case updated
    case removed
    case refreshStarted
    case changed(AccountChange)

    var isRemoval: Bool {
        if case .removed = self { true } else { false }
    }

    /// The event's name on the wire; nil for what only the journal is told.
    var wireName: String? {
        switch self {
        case .added: "account-added"
        case .updated: "account-updated"
        case .removed: "account-removed"
        case .refreshStarted: "refresh-started"
        case .changed(let change):
            switch change {
            case .grantImported: "grant-imported"
            case .tokenRefreshed: "token-refreshed"
            case .refreshFailed: "refresh-failed"
            case .misconfigured: "misconfigured"
            case .interactionRequired: "interaction-required"
            case .refreshTokenExpiring: "refresh-token-expiring"
            case .signedOut: "signed-out"
            case .staleAnswerDropped: nil
            }
        }
    }
}
