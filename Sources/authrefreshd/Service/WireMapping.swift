internal import AccountStorage
internal import AuthRefreshInterface
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
        status.signOutAtUSec = state.signOut?.expiresAt.microseconds
        status.clientSecretExpiresAtUSec = account.registration.clientSecretExpiresAt?.microseconds
        status.grantType = account.registration.serviceGrant?.kind.rawValue
        status.clockSkewSec = clockSkew?.components.seconds
        status.missingScopes = account.grantFacts.scope.flatMap { $0.missing.isEmpty ? nil : $0.missing }
        status.declinedScopes = account.grantFacts.scope.flatMap { $0.declined.isEmpty ? nil : $0.declined }
        status.failure = failure.map { FailureReport($0.detail) }
        status.person = wirePerson
        if lacksRefreshToken { status.refreshTokenMissing = consentMayHelp ? "askConsent" : "final" }
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

    /// The person's names from the server; nil if it sent none.
    var wirePerson: Person? {
        account.grantFacts.person.map { names in
            Person(username: names.username, email: names.email, name: names.fullName, tenant: names.tenant)
        }
    }

    /// The person's names and identifier; nil if nothing is known.
    var listedPerson: Person? {
        guard let subject = account.grantFacts.subject else { return wirePerson }
        var person = wirePerson ?? Person()
        person.subject = subject
        return person
    }

    /// The command that helps; nil if none is needed.
    var hint: String? {
        switch shown {
        // The owner has to know this while the old secret still works.
        case .fresh where needsClientSecret: "authctl account edit \(account.name) --client-secret-file FILE"
        case .fresh where lacksRefreshToken && consentMayHelp: "authctl login \(account.name) --prompt consent"
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
    /// The token's type in the form of RFC 6750 §2.1 if it is Bearer; otherwise as the server wrote it.
    ///
    /// Servers write "bearer" in any case (RFC 6749 §5.1: case-insensitive), but not every resource server accepts
    /// that.
    var scheme: String {
        type.lowercased() == "bearer" ? "Bearer" : type
    }
}

extension DamagedAccount {
    /// What is damaged, without any value.
    var reason: String { "its row in the store is damaged: \(cause)" }

    /// The repair that loses least.
    var hint: String {
        let operand = AccountName(name) == nil ? "'\(name.replacing("'", with: "'\\''"))'" : name
        return "authctl store backup FILE, then authctl account remove \(operand), and add it anew;"
            + " or stop the daemon and restore an earlier backup: authctl store restore FILE"
    }

    /// The account in its wire form. Nothing is known about its state.
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
        self.init(MisconfiguredError(account: account.name, reason: account.reason, hint: account.hint))
    }

    /// The error reply if the store fails for one account.
    init(_ error: StoreError, of account: String) {
        guard error.damagedAccount != nil else {
            self.init(error)
            return
        }
        let isReplaceable = if case .sealBroken(_, .accessToken) = error { true } else { false }
        let hint = isReplaceable ? "authctl refresh \(account)" : error.hint ?? "authctl status \(account)"
        self.init(MisconfiguredError(account: account, reason: "\(error)", hint: hint))
    }
}

extension FailureDetail {
    /// The command that corrects a misconfigured account: it changes what the server refuses, or shows where to look.
    ///
    /// It is never the command that shows the account, because that command prints this text.
    ///
    /// - Parameter grant: the grant of a service account; nil for a person's account.
    func remedy(for account: AccountName, by grant: ServiceGrant? = nil) -> String {
        let edit = "authctl account edit \(account)"
        if oauthError?.lowercased() == "invalid_grant", grant?.assertion != nil {
            return
                "\(edit) --client-key-file FILE, --assertion-subject or --assertion-audience; or set this machine's clock"
        }
        if let exchange = grant?.exchange {
            if let source = exchange.source(atFaultIn: self) { return "authctl status \(source)" }
            // RFC 8693 §2.2.2: servers say `invalid_request` about the tokens, without saying about which one.
            if ["invalid_request", "invalid_grant"].contains(oauthError?.lowercased()) {
                return "authctl refresh " + exchange.sources.map(\.account.text).joined(separator: " ")
            }
        }
        switch finding {
        case .noDeviceEndpoint:
            return "authctl login \(account) --flow browser, or name the endpoint:"
                + " \(edit) --provider-setting device_authorization_endpoint=URL"
        case .badIDToken:
            return
                "report it to the server's operator; or go without ID tokens: \(edit) --provider-setting id_token=ignored"
        case nil: break
        }
        switch oauthError?.lowercased() {
        // RFC 6749 §5.2, and the codes of GitHub and Slack. The server does not say whether the ID or the secret is
        // wrong.
        case "invalid_client", "unauthorized_client", "incorrect_client_credentials", "bad_client_secret",
            "invalid_client_id":
            return "\(edit) --client-secret-file FILE, or --client-id ID"
        case "invalid_scope": return "\(edit) --scope SCOPE"
        // RFC 8707 §2: the resource is a parameter of the request.
        case "invalid_target", "invalid_resource": return "\(edit) --param resource=URL"
        case .some: return "see 'authctl account edit --help' for what can be changed"
        case nil: break
        }
        // The only successful answer that counts as a misconfiguration is an access token without a key binding.
        if let httpStatus, (200...299).contains(httpStatus) {
            return "\(edit) --accept-bearer, if tokens without a key will do; else ask the server's administrator"
        }
        // There was an answer, but not from a token endpoint: it is not the server, or not its address.
        guard httpStatus == nil else { return "\(edit) --issuer URL" }
        return "\(edit) --issuer URL, if the address is wrong; else mend this machine's clock, ca_file or proxy"
    }
}

extension ExchangeTerms {
    /// The source account that caused the failure; nil if none did.
    func source(atFaultIn detail: FailureDetail) -> AccountName? {
        sources.map(\.account).first { $0 == detail.source }
    }
}

extension RevocationFailure {
    /// The details for people.
    var detail: FailureDetail {
        switch self {
        case .unsupported: FailureDetail(summary: "the server does not revoke tokens")
        case .stillValid: FailureDetail(summary: "the server cannot revoke tokens now", httpStatus: 503)
        case .accessTokenNotRevoked(let failure), .failed(let failure): failure.detail
        }
    }
}

/// Errors for calls that are impossible for a service account, because it has no person and no grant of a person.
extension VarlinkError {
    static var needsNoGrant: VarlinkError {
        VarlinkError(
            InvalidSettingsError(
                field: "refreshToken",
                reason: "a service account obtains its tokens without one",
                hint: "an account of a person is added without '--grant'"
            )
        )
    }

    static func needsNoPerson(_ account: AccountName) -> VarlinkError {
        VarlinkError(
            SignInFailedError(
                account: account.text,
                kind: "misconfigured",
                reason: "it is a service account, which obtains its tokens without anybody",
                hint: "authctl refresh \(account)"
            )
        )
    }

    /// The error if a resource server requires more than the account's tokens have.
    static func wantsMore(than account: AccountName) -> VarlinkError {
        VarlinkError(
            InvalidSettingsError(
                field: "challenge",
                reason: "it wants more than the account's tokens have, and a service account has nobody to be asked",
                hint: "authctl account edit \(account) --scope SCOPE"
            )
        )
    }
}

/// What a server's refusal to register a client means (RFC 7591 §3.2.2), and what helps.
struct RegistrationRefusal: Hashable {
    let reason: String
    let hint: String
    /// Whether trying again is pointless.
    let isFinal: Bool

    init(_ failure: RefreshFailure) {
        let detail = failure.detail
        switch failure.failureClass {
        case .unreachable, .unanswered, .unavailable:
            (reason, hint, isFinal) = (detail.summary, "try again later", false)
            return
        case .misconfigured, .untrusted, .rejected, .refusedByGateway, .grantEnded, .userRequired: isFinal = true
        }
        switch (detail.oauthError?.lowercased(), detail.httpStatus) {
        case ("invalid_redirect_uri", _):
            reason = "the server does not take its redirect URIs"
            hint =
                "it may want a port in them: --redirect-port PORT; or name one that it takes: --redirect-uri URI, --redirect-scheme SCHEME"
        case ("invalid_client_metadata", _):
            reason = "the server does not take what the client says about itself"
            hint = "--client-auth METHOD and --scope SCOPE change that"
        case ("invalid_software_statement", _), ("unapproved_software_statement", _):
            reason = "the server registers software only that it has approved"
            hint = "ask its administrator for a client id, and give that with --client-id ID"
        case (_, 401), (_, 403):
            reason = "the server registers those only that it has given an initial access token"
            hint = "--initial-access-token-file FILE"
        default:
            reason = detail.summary
            hint = "ask the server's administrator for a client id, and give that with --client-id ID"
        }
    }
}
