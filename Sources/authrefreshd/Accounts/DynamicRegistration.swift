internal import AccountStorage
internal import AuthRefreshInterface
internal import CommandLineProgram
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// Adds an account whose client the server has to register (RFC 7591).
struct DynamicRegistration: Sendable {
    let new: NewAccount
    /// The client in the registration request.
    let asking: RequestingClient
    let initialAccessToken: Secret?

    init(_ new: NewAccount, initialAccessToken: Secret?, on coordinator: isolated RefreshCoordinator) {
        self.new = new
        self.initialAccessToken = initialAccessToken
        asking = RequestingClient(
            issuer: new.issuer,
            profile: coordinator.settings.profile(for: new.account),
            registration: new.registration,
            correlationID: CorrelationID.new()
        )
    }

    /// Registers a client at the server, and adds the account.
    ///
    /// - Throws: `server` if the server refuses; `store` if the account cannot be added. In that case the client is
    ///   deregistered again if possible.
    func run(on coordinator: isolated RefreshCoordinator) async throws(ServerOrStoreError) -> AccountSnapshot {
        let registered: ClientRegistration
        switch await coordinator.client.registrar.register(request) {
        case .success(let success): registered = success.registration
        case .failure(let failure): throw .server(failure)
        }
        var new = new
        new.registration.clientID = registered.clientID
        new.registration.clientSecret = registered.clientSecret
        new.registration.clientSecretExpiresAt = registered.clientSecretExpiresAt
        new.registration.authentication = registered.authentication
        new.registration.idTokenAlgorithm = registered.idTokenAlgorithm
        new.registration.management = registered.management
        do throws(StoreError) {
            return try AccountChanges.add(new, grant: nil, on: coordinator)
        } catch {
            var owner = asking
            owner.registration = new.registration
            if let management = registered.management {
                _ = await coordinator.client.registrar.deregister(management, of: owner)
            }
            throw .store(error)
        }
    }

    private var request: RegistrationRequest {
        let wanted = new.registration
        let signIn = (asking.profile?.signIn ?? SignInProfile()).registered(with: wanted.redirect)
        var request = RegistrationRequest(
            client: asking,
            clientName: "authrefreshd",
            redirectURIs: wanted.serviceGrant == nil ? RedirectChoice.registered(as: signIn) : []
        )
        if let grant = wanted.serviceGrant { request.grantTypes = [grant.kind.rawValue] }
        request.postLogoutRedirectURIs = wanted.redirect.postLogoutURI.map { [$0] } ?? []
        // A client with a key authenticates with the key, unless another method was chosen.
        let byKey = wanted.clientKey != nil && wanted.serviceGrant?.kind != .jwtBearer
        request.authentication = wanted.authentication ?? (byKey ? .privateKeyJWT : nil)
        request.scopes = asking.scopes(nil)
        request.idTokenAlgorithm = wanted.idTokenAlgorithm
        request.initialAccessToken = initialAccessToken
        request.softwareVersion = Version.text
        request.keySet = wanted.clientKey.flatMap { ClientKeys.keySet(of: $0, keyID: wanted.clientKeyID) }
        return request
    }
}

extension ClientNotRegisteredError {
    /// What a server's refusal to register a client means (RFC 7591 §3.2.2), and what helps.
    init(_ failure: RefreshFailure, of account: AccountName) {
        let (kind, reason, hint) = Self.words(failure)
        let report = FailureReport(failure.detail)
        self.init(account: account.text, kind: kind, reason: reason, failure: report, hint: hint)
    }

    private static func words(_ failure: RefreshFailure) -> (kind: String, reason: String, hint: Hint) {
        let detail = failure.detail
        switch failure.failureClass {
        case .unreachable, .unanswered, .unavailable: return ("unavailable", detail.summary, "try again later")
        case .misconfigured, .untrusted, .rejected, .refusedByGateway, .grantEnded, .userRequired, .refusedHere: break
        }
        return switch (detail.oauthError?.lowercased(), detail.httpStatus) {
        case ("invalid_redirect_uri", _):
            (
                "refused", "the server does not accept the redirect URIs",
                "it may want a port in them: --redirect-port PORT; or name one that it accepts: --redirect-uri URI, --redirect-scheme SCHEME"
            )
        case ("invalid_client_metadata", _):
            (
                "refused", "the server does not accept what the client says about itself",
                "--client-auth METHOD and --scope SCOPE change that"
            )
        case ("invalid_software_statement", _), ("unapproved_software_statement", _):
            (
                "refused", "the server registers only software that it has approved",
                "ask its administrator for a client id, and use it with --client-id ID"
            )
        case (_, 401), (_, 403):
            (
                "refused", "the server registers only clients with an initial access token",
                "--initial-access-token-file FILE"
            )
        default:
            (
                "refused", detail.summary,
                "ask the server's administrator for a client id, and use it with --client-id ID"
            )
        }
    }
}
