internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

extension TokenSetStatus {
    init(_ record: TokenTargetRecord, at now: Moment) {
        self.init(
            scopes: record.target.scopes.isEmpty ? nil : record.target.scopes,
            resources: record.target.resources.isEmpty ? nil : record.target.resources,
            audience: record.target.audience,
            claims: record.target.claims,
            expiresAtUSec: record.times.expiresAt(at: now).microseconds
        )
    }
}

extension VarlinkError {
    /// The error for an invalid target in a call.
    init(_ error: TokenTargetError) {
        switch error {
        case .empty: self = .invalid(WrongArgument.noScopes)
        case .scope(let text): self = .invalid(WrongArgument.noScope(text))
        case .resource(let text): self = .invalid(WrongArgument.noResource(text))
        case .audience: self = .invalid(WrongArgument.noAudience)
        case .claims: self = .invalid(WrongArgument.noClaims)
        case .tooLong: self.init(LimitExceededError(.tokenSetBytes, maximum: TokenTarget.longestText))
        }
    }
}

extension AccountSnapshot {
    /// A scope of `target` that was declined at the sign-in, so that requesting it again is pointless; nil if there is
    /// none.
    func declinedScope(of target: TokenTarget) -> String? {
        let declined = account.grantFacts.scope?.declined ?? []
        return target.scopes.first(where: declined.contains)
    }
}

extension VarlinkError {
    /// The error without asking the server, because the sign-in has shown its answer.
    static func declined(_ scope: String, _ name: String) -> VarlinkError {
        let failure = FailureReport(summary: CallText.declinedScope(scope).text)
        return refused(name, failure, isForUser: true, .askForScopeAgain(account: name))
    }

    /// The error if there is no token of a target, with a hint.
    ///
    /// - Parameter retryAt: when the server may be asked again.
    static func tokenSet(failed failure: RefreshFailure, _ name: String, retryAt: Timestamp) -> VarlinkError {
        let detail = FailureReport(failure.detail)
        switch failure.failureClass {
        case .unreachable, .unanswered, .unavailable:
            return VarlinkError(
                TemporarilyUnavailableError(
                    account: name,
                    retryAtUSec: retryAt.microseconds,
                    reason: detail.summary,
                    failure: detail
                )
            )
        case .misconfigured, .untrusted, .rejected, .refusedByGateway, .grantEnded:
            return refused(name, detail, isForUser: false, .showGrant(account: name))
        case .userRequired, .refusedHere:
            return refused(name, detail, isForUser: true, .signInWithScopes(account: name))
        }
    }

    private static func refused(_ name: String, _ failure: FailureReport, isForUser: Bool, _ hint: CallText)
        -> VarlinkError
    {
        VarlinkError(
            TokenSetRefusedError(
                account: name,
                userRequired: isForUser,
                reason: failure.summary,
                failure: failure,
                hint: hint.text
            )
        )
    }
}

extension VarlinkError {
    /// The error if an account has no access token, with a hint.
    static func noToken(_ snapshot: AccountSnapshot) -> VarlinkError {
        let name = snapshot.account.name.text
        let hint = snapshot.hint ?? "authctl status \(name)"
        guard !snapshot.isOver else {
            let source = snapshot.account.registration.serviceGrant?.exchange?.subject.account
            return VarlinkError(SignedOutError(account: name, hint: source.map { "authctl login \($0)" } ?? hint))
        }
        switch snapshot.state.phase {
        case .signedOut:
            return VarlinkError(SignedOutError(account: name, hint: hint))
        case .parked:
            return VarlinkError(AccountParkedError(account: name, hint: hint))
        case .interactionRequired(let interaction):
            // Many sign-ins after a week each mean something else than a single one.
            let noted = hint + (snapshot.lifetimeNote.map { " (\($0))" } ?? "")
            return VarlinkError(interactionRequired(interaction, name, noted))
        case .backingOff(let backOff) where snapshot.shown == .misconfigured:
            let reason = backOff.failure.detail.summary
            return VarlinkError(
                MisconfiguredError(account: name, reason: reason, failure: snapshot.failureReport, hint: hint)
            )
        case .backingOff(let backOff):
            return unavailable(
                name,
                backOff.failure.detail.summary,
                snapshot.failureReport,
                snapshot.state.deadline
            )
        case .scheduled where !snapshot.state.isRefreshable:
            // The caller asked for a newer token than the current one.
            return VarlinkError(
                InteractionRequiredError(
                    account: name,
                    reason: InteractionReason.noRefreshToken.rawValue,
                    sinceUSec: snapshot.at.wall.microseconds,
                    hint: "authctl login \(name)"
                )
            )
        case .scheduled, .refreshing:
            return unavailable(name, NotNow.waitsForTurn.reason, nil, snapshot.state.deadline)
        }
    }

    private static func unavailable(_ name: String, _ reason: String, _ failure: FailureReport?, _ retryAt: Timestamp?)
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
