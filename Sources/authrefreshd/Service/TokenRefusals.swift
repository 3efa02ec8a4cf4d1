internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
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
    /// The error without asking the server, because the sign-in has shown its answer.
    static func declined(_ scope: String, _ snapshot: AccountSnapshot) -> VarlinkError {
        refused(
            snapshot.account.name.text,
            FailureReport(summary: "'\(scope)' was requested when you signed in, and not granted"),
            isForUser: true,
            hint: "to be asked again: \(snapshot.loginAgain)"
        )
    }

    /// The error without asking the server, because it may take the other scopes from the account for good.
    static func narrowing(to scopes: [String], _ name: String) -> VarlinkError {
        let login = Command(words: ["login", name, "--new-account", "NAME"] + scopes.flatMap { ["--scope", $0] })
        let edit = Command("account", "edit", name, "--provider-setting", "narrowed_scopes=kept")
        return refused(
            name,
            FailureReport(
                summary: "the server's next refresh token may lack the scopes that are not named"
            ),
            isForUser: false,
            hint: "an account of its own for these scopes: \(login); or, if this server keeps the others: \(edit)"
        )
    }

    /// The error if there is no token of a target, with a hint.
    ///
    /// - Parameter retryAt: when the server may be asked again.
    static func tokenSet(failed failure: RefreshFailure, _ name: String, retryAt: Timestamp) -> VarlinkError {
        let detail = FailureReport(failure.detail)
        let remedy = AccountName(name).flatMap { failure.detail.remedyOfCodes(for: $0, then: Command("token", name)) }
        guard failure.failureClass.subject != .service else {
            return TemporarilyUnavailableError(
                account: name,
                retryAtUSec: retryAt.microseconds,
                reason: detail.summary,
                failure: detail
            ).error
        }
        let isForUser = [.userRequired, .refusedHere].contains(failure.failureClass)
        let hint: Hint =
            isForUser
            ? "sign in with the account's scopes and these: "
                + Hint(Command("login", name, "--scope", "SCOPE", "--scope", "SCOPE"))
            : "'\(Command("account", "show", name))' shows what its grant covers"
        return refused(name, detail, isForUser: isForUser, hint: remedy ?? hint)
    }

    private static func refused(_ name: String, _ failure: FailureReport, isForUser: Bool, hint: Hint)
        -> VarlinkError
    {
        TokenSetRefusedError(
            account: name,
            userRequired: isForUser,
            reason: failure.summary,
            failure: failure,
            hint: hint
        ).error
    }
}

extension VarlinkError {
    /// The error if an account has no access token, with a hint.
    static func noToken(_ snapshot: AccountSnapshot) -> VarlinkError {
        let name = snapshot.account.name.text
        let hint = snapshot.hint ?? Hint(Command("status", name))
        guard !snapshot.isOver else {
            let source = snapshot.account.registration.serviceGrant?.exchange?.subject.account
            let login = source.map { Hint(Command("login", $0.text)) }
            return SignedOutError(account: name, hint: login ?? hint).error
        }
        switch snapshot.state.phase {
        case .signedOut:
            return SignedOutError(account: name, hint: hint).error
        case .parked:
            return AccountParkedError(account: name, hint: hint).error
        case .interactionRequired(let interaction):
            // Many sign-ins after a week each mean something else than a single one.
            let noted = snapshot.lifetimeNote.map { hint + " (\($0))" } ?? hint
            return interactionRequired(interaction, name, noted).error
        case .backingOff(let backOff) where snapshot.shown == .misconfigured:
            let reason = backOff.failure.detail.summary
            return MisconfiguredError(account: name, reason: reason, failure: snapshot.failureReport, hint: hint).error
        case .backingOff(let backOff):
            return TemporarilyUnavailableError(
                account: name,
                retryAtUSec: snapshot.state.deadline?.microseconds,
                reason: backOff.failure.detail.summary,
                failure: snapshot.failureReport
            ).error
        case .scheduled where !snapshot.state.isRefreshable:
            // The caller asked for a newer token than the current one.
            return InteractionRequiredError(
                account: name,
                reason: InteractionReason.noRefreshToken.rawValue,
                sinceUSec: snapshot.at.wall.microseconds,
                hint: Hint(snapshot.loginAgain)
            ).error
        case .scheduled, .refreshing:
            return TemporarilyUnavailableError(
                account: name,
                retryAtUSec: snapshot.state.deadline?.microseconds,
                reason: "a refresh is due, and waits for its turn"
            ).error
        }
    }

    private static func interactionRequired(
        _ interaction: InteractionRequired,
        _ name: String,
        _ hint: Hint
    ) -> InteractionRequiredError {
        let detail = interaction.failure.detail
        return InteractionRequiredError(
            account: name,
            reason: interaction.reason.rawValue,
            summary: detail.summary,
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
