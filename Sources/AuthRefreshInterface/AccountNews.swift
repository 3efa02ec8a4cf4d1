/// What the daemon reports about accounts: the only list. Subscribers, the command of `on_change` and the journal
/// (`JournalKey.event`) have the raw values.
package enum AccountNews: String, CaseIterable, Sendable {
    case accountAdded = "account-added"
    case accountUpdated = "account-updated"
    case accountRenamed = "account-renamed"
    case accountRemoved = "account-removed"
    case grantImported = "grant-imported"
    case refreshStarted = "refresh-started"
    case tokenRefreshed = "token-refreshed"
    case tokenSetRefreshed = "token-set-refreshed"
    case tokenSetFailed = "token-set-failed"
    case refreshFailed = "refresh-failed"
    case misconfigured
    case interactionRequired = "interaction-required"
    case refreshTokenExpiring = "refresh-token-expiring"
    case signOutNear = "sign-out-near"
    case signInStarted = "sign-in-started"
    case signInFailed = "sign-in-failed"
    case signedIn = "signed-in"
    case signedOut = "signed-out"
    case clientSecretEnding = "client-secret-ending"
    case accountParked = "account-parked"
    case accountResumed = "account-resumed"
}

extension Subscribe.Reply {
    /// A page of the present state.
    package static func present(_ accounts: [AccountStatus], atUSec: Int64) -> Self {
        Self(event: "present", atUSec: atUSec, accounts: accounts)
    }

    /// The end of the present state.
    package static func ready(atUSec: Int64) -> Self {
        Self(event: "ready", atUSec: atUSec, accounts: [])
    }

    package var isReady: Bool { event == "ready" }
    /// Nil for the present state, and for news that this version does not know.
    package var news: AccountNews? { AccountNews(rawValue: event) }
}
