internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

extension AccountSnapshot {
    /// The account as the wire shows it.
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
        status.clientSecretExpiresAtUSec = account.registration.clientSecretExpiresAt?.microseconds
        status.grantType = account.registration.serviceGrant?.kind.rawValue
        status.clockSkewSec = clockSkew?.components.seconds
        status.failure = failure.map { Failure($0.detail) }
        if let interaction = state.interaction {
            status.reason = interaction.reason.rawValue
            status.sinceUSec = interaction.since.microseconds
        } else if shown == .interactionRequired, let stepUp {
            status.reason = StepUp.reason
            status.sinceUSec = stepUp.since.microseconds
        }
        status.hint = hint
        return status
    }

    /// The command that helps; nil if none is needed.
    var hint: String? {
        switch shown {
        // Whoever brings a new one has to be told while the old one is still taken.
        case .fresh where needsClientSecret: "authctl account edit \(account.name) --client-secret-file FILE"
        case .fresh, .refreshing, .retrying: nil
        case .parked: "authctl account remove \(account.name), or authctl account resume \(account.name)"
        case .signedOut where account.registration.serviceGrant != nil: "authctl refresh \(account.name)"
        case .interactionRequired where account.registration.serviceGrant?.exchange != nil:
            account.registration.serviceGrant?.exchange.map { exchange in
                let source = failure.flatMap { exchange.source(atFaultIn: $0.detail) }
                return "authctl login \(source ?? exchange.subject.account)"
            }
        case .interactionRequired, .refreshTokenExpiring, .signedOut:
            "authctl login \(account.name)"
        case .misconfigured: failure?.detail.remedy(for: account.name, by: account.registration.serviceGrant)
        }
    }
}

extension Failure {
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

extension VarlinkError {
    /// An error of our interface.
    init(_ error: some InterfaceError) {
        self.init(type(of: error).name, parameters: error)
    }
}

extension AccessToken {
    /// The type in the spelling of RFC 6750 §2.1, if it is that; else as the server wrote it.
    ///
    /// Servers write "bearer" as they like (RFC 6749 §5.1: case-insensitive), but not every resource server reads it so.
    var scheme: String {
        type.lowercased() == "bearer" ? "Bearer" : type
    }
}
