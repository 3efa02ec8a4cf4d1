package import OAuthMessages
package import RefreshCore

/// Asks servers about tokens (RFC 7662).
package struct TokenIntrospection: Sendable {
    let servers: ServerAccess

    /// How long the new tokens wait for the answer. They are not on disk yet, but could be obtained again.
    private static let timeout = Duration.seconds(5)

    /// The remaining lifetime of the token according to the server (RFC 7662 §2.2); nil if the server does not answer
    /// within five seconds or does not say.
    @concurrent package func lifetime(
        of token: AccessToken,
        as client: RequestingClient
    ) async -> Duration? {
        guard let metadata = try? await servers.metadata(for: client) else { return nil }
        return await lifetime(of: token, as: client, metadata)
    }

    /// `tokens` with the lifetime that the server states, if the answer with the tokens has none and the profile names
    /// an endpoint to ask. After any failure the tokens stay as they are. Call it only for tokens without a new refresh
    /// token, because a new refresh token must be stored at once.
    func completed(
        _ tokens: TokenResponse,
        of client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> TokenResponse {
        guard !tokens.isLifetimeStated, let token = tokens.accessToken,
            let lifetime = await lifetime(of: token, as: client, metadata)
        else { return tokens }
        var known = tokens
        known.issuance.lifetime = lifetime
        known.issuance.lifetimeBasis = .stated
        return known
    }

    /// The server's description of a valid token (RFC 7662 §2.2), and its clock at that time; nil if there is no such
    /// answer within five seconds.
    func answer(
        about token: AccessToken,
        at endpoint: Endpoint,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> (fields: [String: JSONTree], serverDate: Timestamp?)? {
        var post = servers.post(from: client, to: endpoint, metadata)
        post.deadline = servers.configuration.uptime() + min(Self.timeout, servers.configuration.totalTimeout)
        let fields = [("token", token.secret.reveal()), ("token_type_hint", "access_token")]
        let conclusion = await post.run(fields) { answer, body in
            (200...299).contains(answer.status) && body.fields["active"] == .boolean(true)
        }
        guard conclusion.row == nil, let body = conclusion.body else { return nil }
        return (body.fields, (try? conclusion.answer.get())?.serverDate)
    }

    private func lifetime(
        of token: AccessToken,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> Duration? {
        guard let endpoint = client.profile?.introspectionEndpoint,
            let (fields, serverDate) = await answer(about: token, at: endpoint, as: client, metadata),
            let end = fields["exp"]?.seconds
        else { return nil }
        let clock = serverDate ?? servers.configuration.now()
        let rest = end - Double(clock.microseconds) / 1e6
        // A longer lifetime than a year makes no difference.
        return rest >= 1 ? .seconds(Int64(min(rest, 365 * 86_400))) : nil
    }
}
