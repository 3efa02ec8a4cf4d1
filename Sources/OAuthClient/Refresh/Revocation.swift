package import OAuthMessages
package import RefreshCore

/// The input of one revocation (RFC 7009 §2.1).
package struct RevocationRequest: Sendable {
    package var client: RequestingClient
    /// The refresh token. It is revoked first, because that ends the grant.
    package var refreshToken: RefreshToken?
    /// The access token, revoked second. Nil leaves it to the server, which may let it live until it expires.
    package var accessToken: AccessToken?

    package init(
        client: RequestingClient,
        refreshToken: RefreshToken?,
        accessToken: AccessToken? = nil
    ) {
        self.client = client
        self.refreshToken = refreshToken
        self.accessToken = accessToken
    }
}

/// Why a grant was not revoked.
package enum RevocationError: Error, Hashable, Sendable {
    /// The server has no revocation endpoint, or it does not revoke refresh tokens.
    case unsupported
    /// The server could not revoke it now (503), and the token is still valid (RFC 7009 §2.2.1). `retryAfter` is nil if
    /// the server did not say when to try again.
    case stillValid(retryAfter: Duration?)
    /// The refresh token is revoked, and the grant has ended with it. The access token may live until it expires.
    case accessTokenNotRevoked(RefreshFailure)
    /// The server was not reached, did not answer, or refused the client. The token must be taken as still valid.
    case failed(RefreshFailure)
}

/// Revocation (RFC 7009).
extension OAuthClient {
    /// Revokes a grant at the server: the refresh token, then the access token.
    @concurrent package func revoke(_ request: RevocationRequest) async -> Result<Void, RevocationError> {
        let metadata: AuthorizationServerMetadata
        do throws(MetadataError) {
            metadata = try await servers.cache.metadata(
                for: MetadataCache.Key(issuer: request.client.issuer, profile: request.client.profile)
            )
        } catch {
            return .failure(.failed(error.refreshFailure))
        }
        let own = request.client.profile?.revocationEndpoint(for: request.client.registration.clientID)
        guard let endpoint = own ?? metadata.revocationEndpoint else { return .failure(.unsupported) }
        let post = post(to: endpoint, metadata, for: request)
        guard request.form.credential == .refreshToken else {
            guard let token = request.accessToken else {
                let summary = "the provider revokes a grant by its access token, and the account has none"
                return .failure(.failed(request.client.misconfigured(summary)))
            }
            return await revoke(token.secret, hint: "access_token", request, by: post)
        }
        if let token = request.refreshToken {
            let result = await revoke(token.secret, hint: "refresh_token", request, by: post)
            if case .failure = result { return result }
        }
        guard let token = request.accessToken else { return .success(()) }
        switch await revoke(token.secret, hint: "access_token", request, by: post) {
        case .success:
            return .success(())
        case .failure(.unsupported) where request.refreshToken != nil:
            // RFC 7009 §2: servers need not revoke access tokens. The grant has ended nevertheless.
            return .success(())
        case .failure(.failed(let failure)) where request.refreshToken != nil:
            return .failure(.accessTokenNotRevoked(failure))
        case .failure(let failure):
            return .failure(failure)
        }
    }

    private func revoke(
        _ token: Secret,
        hint: String,
        _ request: RevocationRequest,
        by post: AuthenticatedPost
    ) async -> Result<Void, RevocationError> {
        let parameters = (request.client.profile?.revocationParameters ?? [:]).sorted { $0.key < $1.key }
        let isStandard = request.form.parameter == RevocationForm.standard
        let fields =
            [(request.form.parameter, token.reveal())] + (isStandard ? [("token_type_hint", hint)] : [])
            + parameters.map { ($0.key, $0.value) }
        // RFC 7009 §2.2: the status is 200 also for unknown tokens, and the body has no meaning. But Slack answers 200
        // with an error.
        let conclusion = await post.run(fields) { answer, body in
            (200...299).contains(answer.status) && body.kind != .html && ErrorReading(body.fields).error == nil
        }
        guard conclusion.row != nil else { return .success(()) }
        let failure = request.client.failure(conclusion, hiding: [token], now: servers.configuration.now())
        if failure.detail.httpStatus == 503 { return .failure(.stillValid(retryAfter: failure.retryAfter)) }
        if failure.detail.oauthError == "unsupported_token_type" { return .failure(.unsupported) }
        // If the server says that the grant has ended already, the purpose is fulfilled.
        if failure.failureClass == .grantEnded { return .success(()) }
        return .failure(.failed(failure))
    }

    private func post(
        to endpoint: Endpoint,
        _ metadata: AuthorizationServerMetadata,
        for request: RevocationRequest
    ) -> AuthenticatedPost {
        var post = servers.post(from: request.client, to: endpoint, metadata)
        post.role = .revocation
        post.registration.authentication = request.form.authentication ?? post.registration.authentication
        post.offeredMethods = metadata.revocationEndpointAuthenticationMethods ?? post.offeredMethods
        post.format = request.form.format
        post.method = request.form.method
        return post
    }
}

extension RevocationRequest {
    fileprivate var form: RevocationForm { client.profile?.revocationForm ?? RevocationForm() }
}
