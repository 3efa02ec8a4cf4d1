package import RefreshCore

/// What one revocation needs (RFC 7009 §2.1).
package struct RevocationRequest: Sendable {
    package var client: RequestingClient
    /// Revoked first: that ends the grant.
    package var refreshToken: RefreshToken?
    /// Revoked after it; nil leaves it to the server, which may let it live on to its end.
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

/// How a revocation is asked for, where that is not RFC 7009 §2.1's way.
package struct RevocationForm: Hashable, Sendable {
    /// How the request goes out.
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case post
        /// GitHub's `DELETE /applications/{client_id}/grant`.
        case delete
    }

    package var method = Method.post
    /// What ends the grant: the refresh token, or the access token alone (GitHub), of which there has to be one then.
    package var credential = RefreshForm.Credential.refreshToken
    /// The field that carries the token.
    package var parameter = Self.standard
    package var format = BodyFormat.form
    /// How clients prove themselves there; nil for as they do everywhere.
    package var authentication: ClientAuthentication?

    package init() {}

    package static let standard = "token"

    /// Whether RFC 7009 says what the endpoint makes of a request.
    var isStandard: Bool { self == RevocationForm() }
}

extension RevocationForm {
    enum Key: String, CaseIterable {
        case method = "revocation_method"
        case credential = "revocation_token"
        case parameter = "revocation_token_parameter"
        case format = "revocation_format"
        case authentication = "revocation_authentication"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields) throws {
        method = try fields.choice(Key.method.rawValue) ?? .post
        credential = try fields.choice(Key.credential.rawValue) ?? .refreshToken
        parameter = try fields.word(Key.parameter.rawValue) ?? Self.standard
        format = try fields.choice(Key.format.rawValue) ?? .form
        authentication = try fields.choice(Key.authentication.rawValue)
    }
}

/// Why a grant was not revoked.
package enum RevocationFailure: Error, Hashable, Sendable {
    /// The server has no revocation endpoint, or it does not revoke refresh tokens.
    case unsupported
    /// The server could not do it now (503): the token is still valid (RFC 7009 §2.2.1). Nil if it did not say when to
    /// return.
    case stillValid(retryAfter: Duration?)
    /// The refresh token is revoked, and with it the grant; the access token may live on to its end.
    case accessTokenNotRevoked(RefreshFailure)
    /// The server was not reached, did not answer, or refused the client; the token has to be taken as still valid.
    case failed(RefreshFailure)
}

/// One revocation of a grant's tokens.
struct Revocation: Sendable {
    let servers: ServerAccess

    func run(_ request: RevocationRequest) async -> Result<Void, RevocationFailure> {
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
            // RFC 7009 §2: servers need not revoke access tokens. The grant has ended all the same.
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
    ) async -> Result<Void, RevocationFailure> {
        let parameters = (request.client.profile?.revocationParameters ?? [:]).sorted { $0.key < $1.key }
        let isStandard = request.form.parameter == RevocationForm.standard
        let fields =
            [(request.form.parameter, token.reveal())] + (isStandard ? [("token_type_hint", hint)] : [])
            + parameters.map { ($0.key, $0.value) }
        // RFC 7009 §2.2: 200 for unknown tokens too, and the body says nothing. Slack answers 200 with an error.
        let conclusion = await post.run(fields) { answer, body in
            (200...299).contains(answer.status) && body.kind != .html && ErrorReading(body.fields).error == nil
        }
        guard conclusion.row != nil else { return .success(()) }
        let failure = request.client.failure(conclusion, hiding: [token], now: servers.configuration.now())
        if failure.detail.httpStatus == 503 { return .failure(.stillValid(retryAfter: failure.retryAfter)) }
        if failure.detail.oauthError == "unsupported_token_type" { return .failure(.unsupported) }
        // A server that says that the grant has ended says what was wanted.
        if failure.failureClass == .grantEnded { return .success(()) }
        return .failure(.failed(failure))
    }

    private func post(
        to endpoint: Endpoint,
        _ metadata: AuthorizationServerMetadata,
        for request: RevocationRequest
    ) -> AuthenticatedPost {
        var post = servers.post(from: request.client, to: endpoint, metadata)
        post.registration.authentication = request.form.authentication ?? post.registration.authentication
        post.offeredMethods = metadata.revocationEndpointAuthenticationMethods ?? post.offeredMethods
        post.format = request.form.format
        post.isDeletion = request.form.method == .delete
        return post
    }
}

extension RevocationRequest {
    fileprivate var form: RevocationForm { client.profile?.revocationForm ?? RevocationForm() }
}
