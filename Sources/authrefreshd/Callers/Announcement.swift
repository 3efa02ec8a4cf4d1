internal import AuthRefreshInterface
internal import RefreshCore

/// What has happened to an account, for subscribers, the command of `on_change` and the journal.
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

    /// The account's previous name; nil if it has not changed.
    var previousName: String? {
        if case .renamed(let name) = self { name.text } else { nil }
    }

    /// The news for subscribers and the command, and the line of the journal. Each is nil if it is told nothing.
    func told(of snapshot: AccountSnapshot) -> (news: AccountNews?, line: JournalEvent?) {
        let secretExpiresAt = snapshot.account.registration.clientSecretExpiresAt
        return switch self {
        case .added: (.accountAdded, .accountAdded)
        case .updated: (.accountUpdated, .accountUpdated)
        case .renamed: (.accountRenamed, .accountUpdated)
        case .removed: (.accountRemoved, .accountRemoved)
        case .refreshStarted: (.refreshStarted, nil)
        case .signInStarted(let flow): (.signInStarted, .signInStarted(flow: flow))
        case .signInFailed(let reason): (.signInFailed, .signInFailed(reason))
        case .stepUpRequired(let stepUp):
            (
                .interactionRequired,
                .interactionRequired(reason: StepUp.reason, error: stepUp.error, detail: stepUp.description)
            )
        case .clientSecretRenewed: (.accountUpdated, .clientSecretRenewed(until: secretExpiresAt))
        case .clientSecretEnding(let failure): (.clientSecretEnding, .clientSecretEnding(at: secretExpiresAt, failure))
        case .changed(let change): Self.told(change, of: snapshot)
        }
    }

    private static func told(_ change: AccountChange, of snapshot: AccountSnapshot) -> (AccountNews?, JournalEvent?) {
        let expiresAt = snapshot.state.accessToken?.expiresAt(at: snapshot.at)
        return switch change {
        case .grantImported: (.grantImported, .grantImported)
        case .signedIn: (.signedIn, .signedIn(until: expiresAt))
        case .accessTokenObtained: (.signedIn, .signedInWithoutRefreshToken(until: expiresAt))
        case .parked: (.accountParked, .accountParked)
        case .unparked: (.accountResumed, .accountUnparked)
        case .tokenRefreshed: (.tokenRefreshed, .tokenRefreshed(until: expiresAt))
        case .targetRefreshed(let target): (.tokenSetRefreshed, .targetRefreshed(target))
        case .targetFailed(let target, let failure): (.tokenSetFailed, .targetFailed(target, failure))
        case .refreshFailed(let failure, let retryAt):
            (
                .refreshFailed,
                failure.failureClass == .unanswered
                    ? .outcomeUnknown(failure, retryAt: retryAt) : .refreshFailed(failure, retryAt: retryAt)
            )
        case .interactionStillRequired(let interaction, let failure):
            (.refreshFailed, .refreshFailed(failure, reason: interaction.reason))
        case .misconfigured(let failure, let retryAt): (.misconfigured, .misconfigured(failure, retryAt: retryAt))
        case .interactionRequired(let interaction):
            (
                .interactionRequired,
                .interactionRequired(reason: interaction.reason.rawValue, interaction.failure)
            )
        case .refreshTokenExpiring(let expiresAt): (.refreshTokenExpiring, .refreshTokenExpiring(at: expiresAt))
        case .signOutNear(let time): (.signOutNear, .signOutNear(at: time))
        case .signedOut: (.signedOut, .signedOut())
        case .signedOutByItself: (.signedOut, .signedOut(reason: "forgetAfter"))
        case .staleAnswerDropped(let generation): (nil, .staleAnswerDropped(of: generation))
        }
    }
}
