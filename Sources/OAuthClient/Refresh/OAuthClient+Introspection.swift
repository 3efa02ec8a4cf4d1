package import RefreshCore

extension OAuthClient {
    /// How long the tokens wait for it: they are not on disk yet, and can be had again.
    private static let introspectionTimeout = Duration.seconds(5)

    /// How long the token lives on, as the server tells of it (RFC 7662 §2.2); nil if it does not, or says nothing within five seconds.
    @concurrent package func introspectedLifetime(
        of token: AccessToken,
        as client: RequestingClient
    ) async -> Duration? {
        guard let metadata = try? await metadata(for: client) else { return nil }
        return await introspectedLifetime(of: token, as: client, metadata)
    }

    /// `tokens` with the lifetime that the server tells of them, if the answer that brought them has none and the profile says where to
    /// ask. Whatever goes wrong with it leaves them as they are. Only for tokens without a new refresh token, which would wait with them.
    func introspected(
        _ tokens: TokenResponse,
        of client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> TokenResponse {
        guard !tokens.isLifetimeStated,
            let lifetime = await introspectedLifetime(of: tokens.accessToken, as: client, metadata)
        else { return tokens }
        var known = tokens
        known.issuance.lifetime = lifetime
        known.issuance.lifetimeBasis = .stated
        return known
    }

    private func introspectedLifetime(
        of token: AccessToken,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> Duration? {
        guard let endpoint = client.profile?.introspectionEndpoint else { return nil }
        var post = post(from: client, to: endpoint, metadata)
        post.deadline = configuration.uptime() + min(Self.introspectionTimeout, configuration.totalTimeout)
        let fields = [("token", token.secret.reveal()), ("token_type_hint", "access_token")]
        let conclusion = await post.run(fields) { answer, body in
            (200...299).contains(answer.status) && body.fields["active"] == .boolean(true)
        }
        guard conclusion.row == nil, let end = conclusion.body?.fields["exp"]?.seconds else { return nil }
        let clock = (try? conclusion.answer.get())?.serverDate ?? configuration.now()
        let rest = end - Double(clock.microseconds) / 1e6
        // A year is as good as no end at all.
        return rest >= 1 ? .seconds(Int64(min(rest, 365 * 86_400))) : nil
    }
}
