internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// Registers a client for an account at its server (RFC 7591).
struct DynamicRegistration: Sendable {
    /// The account that the client is for. Its client, if it has one, is replaced.
    let account: Account
    /// The client in the registration request.
    let asking: RequestingClient
    let initialAccessToken: Secret?

    /// The loopback port to register; nil if the account has one, or needs none. One that we chose for an earlier client
    /// may be another program's by now.
    fileprivate func port() async -> Int? {
        let registration = account.registration
        let profile = asking.profile?.signIn ?? SignInProfile()
        guard registration.serviceGrant == nil else { return nil }
        if let port = registration.redirect.port, registration.isSelfRegistered,
            registration.redirect.uri.flatMap(LoopbackURI.init)?.port == nil
        {
            if await RedirectListener.isFree(port) { return port }
            return await RedirectListener.freePort()
        }
        guard RedirectChoice.lacksPort(profile.registered(with: registration.redirect)) else { return nil }
        return await RedirectListener.freePort()
    }

    fileprivate func request(_ redirect: RegisteredRedirect) -> RegistrationRequest {
        let wanted = account.registration
        let signIn = (asking.profile?.signIn ?? SignInProfile()).registered(with: redirect)
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
        request.keySet = wanted.clientKey.flatMap { try? $0.publicKeySet(keyID: wanted.clientKeyID) }
        return request
    }
}

extension RefreshCoordinator {
    /// A registration of a client for `account`, with the profiles that are in force now.
    func newRegistration(for account: Account, initialAccessToken: Secret? = nil) -> DynamicRegistration {
        DynamicRegistration(
            account: account,
            asking: RequestingClient(
                issuer: account.issuer,
                profile: settings.profile(for: account),
                registration: account.registration,
                correlationID: RandomText.correlationID()
            ),
            initialAccessToken: initialAccessToken
        )
    }

    /// Adds `new` with a client that the server has just registered. If that fails, the client is deregistered again if
    /// possible.
    func add(
        _ new: NewAccount,
        with registered: ClientRegistration,
        by registration: DynamicRegistration
    ) async throws(StoreError) -> AccountSnapshot {
        var new = new
        new.registration = registered
        do throws(StoreError) {
            return try add(new, grant: nil)
        } catch {
            await forgetClient(of: registered, by: registration)
            throw error
        }
    }

    /// Changes the account to a client that the server has just registered. If that fails, the client is deregistered
    /// again if possible.
    ///
    /// - Parameter change: what changes with it; nil for nothing else.
    /// - Returns: nil if the account was removed meanwhile.
    func replaceClient(
        with registered: ClientRegistration,
        by registration: DynamicRegistration,
        changing change: SettingsChange? = nil
    ) async throws(StoreError) -> AccountSnapshot? {
        let newClient = SettingsChange(byOwner: { account in
            var changed = change?.applied(to: account) ?? account
            changed.registration.takeClient(of: registered)
            return changed
        })
        do throws(StoreError) {
            let updated = try update(registration.account.id, by: newClient)
            if updated == nil { await forgetClient(of: registered, by: registration) }
            return updated
        } catch {
            await forgetClient(of: registered, by: registration)
            throw error
        }
    }

    /// The account's registration with a client that the server has just registered. It is not stored.
    func registerClient(by registration: DynamicRegistration) async throws(RefreshFailure) -> ClientRegistration {
        var registered = registration.account.registration
        if let port = await registration.port() { registered.redirect.port = port }
        switch await client.registrar.register(registration.request(registered.redirect)) {
        case .success(let success): registered.takeClient(of: success)
        case .failure(let failure): throw failure
        }
        return registered
    }

    /// Deletes a client that no account uses, if possible.
    private func forgetClient(of registered: ClientRegistration, by registration: DynamicRegistration) async {
        guard let management = registered.management else { return }
        var owner = registration.asking
        owner.registration = registered
        _ = await client.registrar.deregister(management, of: owner)
    }
}

extension ClientRegistration {
    /// Replaces the client by the one that the server has registered, and where people come back to.
    fileprivate mutating func takeClient(of registered: ClientRegistration) {
        clientID = registered.clientID
        clientSecret = registered.clientSecret
        clientSecretExpiresAt = registered.clientSecretExpiresAt
        authentication = registered.authentication
        idTokenAlgorithm = registered.idTokenAlgorithm
        management = registered.management
        redirect.port = registered.redirect.port ?? redirect.port
        wasSelfRegistered = true
    }

    /// Whether the server no longer accepts the client that it registered, as far as that is known without asking it.
    func isForgotten(after failure: FailureDetail?, at now: Timestamp) -> Bool {
        guard isSelfRegistered else { return false }
        return failure?.deniesClient == true || clientSecretExpiresAt.map { $0 <= now } ?? false
    }
}

extension SignInFailure {
    /// The end of a sign-in that needed another client, which the server did not register.
    init(unregistered failure: RefreshFailure) {
        self.init(failure)
        hint = kind == .misconfigured || kind == .refused ? ClientNotRegisteredError.words(failure).hint : nil
    }
}

extension ClientNotRegisteredError {
    /// What a server's refusal to register a client means (RFC 7591 §3.2.2), and what helps.
    ///
    /// - Parameter keepsClient: whether the account exists, and keeps the client that it had.
    init(_ failure: RefreshFailure, of account: AccountName, keepsClient: Bool = false) {
        let (kind, reason, hint) = Self.words(failure)
        let report = FailureReport(failure.detail)
        self.init(account: account.text, kind: kind, reason: reason, failure: report, hint: hint)
        self.keepsClient = keepsClient ? true : nil
    }

    fileprivate static func words(_ failure: RefreshFailure) -> (kind: String, reason: String, hint: Hint) {
        let detail = failure.detail
        guard failure.failureClass.subject != .service else {
            return ("unavailable", detail.summary, "try again later")
        }
        if detail.finding == .registrationPage {
            let page = detail.oauthErrorDescription.map { " (\($0))" } ?? ""
            return (
                "refused", detail.summary,
                "register a client in a browser\(page), and use its id with --client-id ID"
            )
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
