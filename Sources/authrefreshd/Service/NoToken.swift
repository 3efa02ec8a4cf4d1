internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

extension VarlinkError {
    /// Why an account has no access token to give, and what helps.
    static func noToken(_ snapshot: AccountSnapshot) -> VarlinkError {
        let name = snapshot.account.name.text
        let hint = snapshot.hint ?? "authctl status \(name)"
        switch snapshot.state.phase {
        case .signedOut:
            return VarlinkError(SignedOutError(account: name, hint: hint))
        case .parked:
            return VarlinkError(AccountParkedError(account: name, hint: hint))
        case .interactionRequired(let interaction):
            return VarlinkError(interactionRequired(interaction, name, hint))
        case .backingOff(let backOff) where snapshot.shown == .misconfigured:
            let failure = Failure(backOff.failure.detail)
            return VarlinkError(
                MisconfiguredError(account: name, reason: failure.summary, failure: failure, hint: hint)
            )
        case .backingOff(let backOff):
            return unavailable(
                name,
                backOff.failure.detail.summary,
                Failure(backOff.failure.detail),
                snapshot.state.deadline
            )
        case .scheduled where !snapshot.state.isRefreshable:
            // It was asked for a newer one than the one that is held.
            return VarlinkError(
                InteractionRequiredError(
                    account: name,
                    reason: InteractionReason.noRefreshToken.rawValue,
                    sinceUSec: snapshot.at.wall.microseconds,
                    hint: "authctl login \(name)"
                )
            )
        case .scheduled, .refreshing:
            return unavailable(name, "a refresh is due, and waits for its turn", nil, snapshot.state.deadline)
        }
    }

    private static func unavailable(_ name: String, _ reason: String, _ failure: Failure?, _ retryAt: Timestamp?)
        -> VarlinkError
    {
        VarlinkError(
            TemporarilyUnavailableError(
                account: name,
                retryAtUSec: retryAt?.microseconds,
                reason: reason,
                failure: failure
            )
        )
    }

    private static func interactionRequired(
        _ interaction: InteractionRequired,
        _ name: String,
        _ hint: String
    ) -> InteractionRequiredError {
        let detail = interaction.failure.detail
        return InteractionRequiredError(
            account: name,
            reason: interaction.reason.rawValue,
            oauthError: detail.oauthError,
            oauthErrorDescription: detail.oauthErrorDescription,
            subError: detail.subError,
            providerCode: detail.providerCode,
            correlationId: detail.correlationID,
            sinceUSec: interaction.since.microseconds,
            hint: hint
        )
    }
}
