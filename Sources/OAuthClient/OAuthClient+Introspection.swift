internal import RefreshCore

extension OAuthClient {
    /// How long the tokens wait for it: they are not on disk yet, and can be had again.
    private static let introspectionTimeout = Duration.seconds(5)

    /// `tokens` with the lifetime that the server tells of them (RFC 7662 §2.2), if the answer that brought them has none and the
    /// profile says where to ask. Whatever goes wrong with it leaves them as they are.
    func introspected(
        _ tokens: TokenResponse,
        of client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> TokenResponse {
        guard !tokens.isLifetimeStated, let endpoint = client.profile?.introspectionEndpoint else { return tokens }
        var post = post(from: client, to: endpoint, metadata)
        post.deadline = configuration.uptime() + min(Self.introspectionTimeout, configuration.totalTimeout)
        let fields = [
            ("token", tokens.accessToken.secret.reveal()), ("token_type_hint", "access_token"),
        ]
        let conclusion = await post.run(fields) { answer, body in
            (200...299).contains(answer.status) && body.fields["active"] == .boolean(true)
        }
        guard conclusion.row == nil, let end = conclusion.body?.fields["exp"]?.seconds else { return tokens }
        let clock = (try? conclusion.answer.get())?.serverDate ?? configuration.now()
        let rest = end - Double(clock.microseconds) / 1e6
        // A year is as good as no end at all.
        guard rest >= 1 else { return tokens }
        var known = tokens
        known.issuance.lifetime = .seconds(Int64(min(rest, 365 * 86_400)))
        known.issuance.lifetimeBasis = .stated
        return known
    }
}
