internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore

/// Clients that register themselves (RFC 7591).
extension RefreshCoordinator {
    /// As whom a registration is asked for.
    func registering(_ new: NewAccount) -> RequestingClient {
        RequestingClient(
            issuer: new.issuer,
            profile: settings.profile(for: ProfileChoice(new)),
            registration: new.registration,
            correlationID: Self.newCorrelationID()
        )
    }

    /// Has the server register a client, and adds the account that it is for.
    ///
    /// - Throws: `RefreshFailure` if the server registers none; `StoreError` if the account cannot be added, and the client is deregistered
    ///   again, as far as that is possible.
    func register(
        _ new: NewAccount,
        as asking: RequestingClient,
        initialAccessToken: Secret?
    ) async throws -> AccountSnapshot {
        let wanted = new.registration
        let signIn = (asking.profile?.signIn ?? SignInProfile()).registered(with: wanted.redirect)
        var request = RegistrationRequest(
            client: asking,
            clientName: "authrefreshd",
            redirectURIs: wanted.serviceGrant == nil ? RedirectChoice.registered(as: signIn) : []
        )
        if let grant = wanted.serviceGrant { request.grantTypes = [grant.kind.rawValue] }
        request.postLogoutRedirectURIs = wanted.redirect.postLogoutURI.map { [$0] } ?? []
        // A client with a key proves itself with it, unless something else was chosen.
        let byKey = wanted.clientKey != nil && wanted.serviceGrant?.kind != .jwtBearer
        request.authentication = wanted.authentication ?? (byKey ? .privateKeyJWT : nil)
        request.scopes = asking.scopes(nil)
        request.initialAccessToken = initialAccessToken
        request.softwareVersion = Version.text
        request.keySet = wanted.clientKey.flatMap { OAuthClient.keySet(ofClientKey: $0, keyID: wanted.clientKeyID) }
        let registered = try await client.register(request).get().registration
        var new = new
        new.registration.clientID = registered.clientID
        new.registration.clientSecret = registered.clientSecret
        new.registration.clientSecretExpiresAt = registered.clientSecretExpiresAt
        new.registration.authentication = registered.authentication
        new.registration.management = registered.management
        do {
            return try add(new, grant: nil)
        } catch {
            var owner = asking
            owner.registration = new.registration
            if let management = registered.management { _ = await client.deregister(management, of: owner) }
            throw error
        }
    }
}
