internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import RefreshCore
internal import Varlink

extension AccountSnapshot {
    /// The account in its wire form.
    var wireStatus: AccountStatus {
        var status = AccountStatus(
            account: account.name.text,
            state: shown.rawValue,
            issuer: account.issuer.url,
            generation: state.generation.rawValue,
            failures: Int64(state.failures)
        )
        status.expiresAtUSec = state.accessToken?.expiresAt(at: at).microseconds
        status.expiryBasis = state.accessToken.flatMap { $0.basis == .stated ? nil : $0.basis.rawValue }
        status.refreshedAtUSec = state.accessToken?.issuedAt.wall.microseconds
        status.nextAttemptAtUSec = state.deadline?.microseconds
        status.refreshTokenExpiresAtUSec = state.refreshToken?.expiresAt.microseconds
        status.grantEndsAtUSec = state.phase == .signedOut ? nil : state.grantEnd?.microseconds
        status.signOutAtUSec = state.signOut?.expiresAt.microseconds
        status.clientSecretExpiresAtUSec = account.registration.clientSecretExpiresAt?.microseconds
        status.grantType = account.registration.serviceGrant?.kind.rawValue
        status.clockSkewSec = clockSkew?.components.seconds
        status.missingScopes = account.grantFacts.scope.flatMap { $0.missing.isEmpty ? nil : $0.missing }
        status.declinedScopes = account.grantFacts.scope.flatMap { $0.declined.isEmpty ? nil : $0.declined }
        status.failure = failureReport
        status.person = wirePerson
        if lacksRefreshToken { status.refreshTokenMissing = consentMayHelp ? "askConsent" : "final" }
        if let interaction = state.interaction {
            status.reason = interaction.reason.rawValue
            status.sinceUSec = interaction.since.microseconds
        } else if shown == .interactionRequired, let stepUp {
            status.reason = StepUp.reason
            status.sinceUSec = stepUp.since.microseconds
        }
        if shown == .interactionRequired, status.reason == nil, hasLostScopes {
            status.reason = Self.scopesLost
            status.sinceUSec = state.accessToken?.issuedAt.wall.microseconds
        }
        if state.phase == .parked(.otherMachine) { status.reason = ParkReason.otherMachine.rawValue }
        let noted = hint.map { hint in lifetimeNote.map { hint + " (\($0))" } ?? hint }
        status.hint = noted?.text
        status.command = noted?.command
        return status
    }

    /// The current failure of the account in its wire form; nil if there is none.
    var failureReport: FailureReport? {
        var report = failure.map { FailureReport($0.detail) }
        report?.workedUntilUSec = state.refusal?.since.wall.microseconds
        return report
    }

    /// The person's names from the server; nil if it sent none, or if nobody is signed in.
    var wirePerson: Person? {
        // A version that kept the names has signed out earlier, or the time to sign out has just come.
        guard shown != .signedOut else { return nil }
        return account.grantFacts.person.map { names in
            Person(username: names.username, email: names.email, name: names.fullName, tenant: names.tenant)
        }
    }

    /// The person's names and identifier; nil if nothing is known.
    var listedPerson: Person? {
        guard let subject = account.grantFacts.subject, shown != .signedOut else { return wirePerson }
        var person = wirePerson ?? Person()
        person.subject = subject
        return person
    }
}

extension FailureReport {
    init(_ detail: FailureDetail) {
        self.init(
            summary: detail.summary,
            httpStatus: detail.httpStatus.map(Int64.init),
            oauthError: detail.oauthError,
            oauthErrorDescription: detail.oauthErrorDescription,
            subError: detail.subError,
            providerCode: detail.providerCode,
            correlationId: detail.correlationID
        )
    }
}

extension AccessToken {
    /// The token's type in the form of RFC 6750 §2.1 or RFC 9449 §7.1 if it is Bearer or DPoP; otherwise as the server
    /// wrote it.
    ///
    /// Servers write "bearer" in any case (RFC 6749 §5.1: case-insensitive), but not every resource server accepts
    /// that.
    var scheme: String {
        switch type.lowercased() {
        case "bearer": "Bearer"
        case "dpop": "DPoP"
        default: type
        }
    }
}

extension DamagedAccount {
    /// The account as the wire shows it: of its state nothing is known.
    var wireStatus: AccountStatus {
        AccountStatus(
            account: name,
            state: ShownState.misconfigured.rawValue,
            issuer: issuer?.url ?? "",
            generation: 0,
            failures: 0,
            reason: "damaged",
            failure: FailureReport(summary: reason),
            hint: hint
        )
    }
}

extension ShownAccount {
    var wireStatus: AccountStatus {
        switch self {
        case .whole(let snapshot): snapshot.wireStatus
        case .damaged(let account): account.wireStatus
        }
    }
}

extension VarlinkError {
    /// The error reply for an account that cannot be read.
    init(_ account: DamagedAccount) {
        self = MisconfiguredError(account: account.name, reason: account.reason, hint: account.hint).error
    }

    /// The error reply if the store fails for one account.
    init(_ error: StoreError, of account: String) {
        guard error.damagedAccount != nil else {
            self.init(error)
            return
        }
        let isReplaceable = if case .sealBroken(_, .accessToken) = error { true } else { false }
        let repair = error.hint ?? Hint(Command("status", account))
        let hint = isReplaceable ? Hint(Command("refresh", account)) : repair
        self = MisconfiguredError(account: account, reason: "\(error)", hint: hint).error
    }
}
