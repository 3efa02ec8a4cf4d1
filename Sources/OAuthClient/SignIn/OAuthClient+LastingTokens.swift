import RefreshCore

extension OAuthClient {
    /// `grant` with the tokens that its access token is exchanged for, where the profile has an `exchange_endpoint`.
    ///
    /// - Throws: why there are none. The code is spent, and the token at hand could not be refreshed: whoever has just signed in does so
    ///   once more now, and not in an hour.
    func lasting(
        _ grant: ObtainedGrant,
        of client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async throws(RefreshFailure) -> ObtainedGrant {
        guard let profile = client.profile, let endpoint = profile.exchangeEndpoint else { return grant }
        let form = profile.exchangeForm
        var post = post(from: client, to: endpoint, metadata)
        post.isQuery = form.method == .get
        let fields =
            (form.grantType.map { [("grant_type", $0)] } ?? [])
            + [(form.parameter, grant.tokens.accessToken.secret.reveal())]
        let conclusion = await post.run(fields) { [decoder = decoder(for: profile, at: configuration.now())] in
            (200...299).contains($0.status) && decoder.takes($1.fields)
        }
        let now = (try? conclusion.answer.get())?.serverDate ?? configuration.now()
        guard conclusion.row == nil, let body = conclusion.body,
            var tokens = decoder(for: profile, at: now).decode(body.fields)
        else {
            throw client.failure(conclusion, hiding: [grant.tokens.accessToken.secret], now: configuration.now())
        }
        // What only the first answer has goes on being true.
        tokens.idToken = grant.tokens.idToken
        tokens.scopes = tokens.scopes ?? grant.tokens.scopes
        if tokens.refreshToken == nil, let refreshToken = grant.tokens.refreshToken {
            tokens.refreshToken = refreshToken
            tokens.issuance.isRotated = grant.tokens.issuance.isRotated
            tokens.issuance.refreshTokenLifetime = grant.tokens.issuance.refreshTokenLifetime
        }
        let kept = KeptFields.read(profile.tokenFields, in: body.fields)
        return ObtainedGrant(
            tokens: tokens,
            subject: grant.subject,
            keptFields: grant.keptFields.merging(kept) { _, new in new }
        )
    }

    /// The same for what came of the code; a failure stays one.
    func lasting(
        _ result: Result<ObtainedGrant, RefreshFailure>,
        of client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> Result<ObtainedGrant, RefreshFailure> {
        do throws(RefreshFailure) {
            return .success(try await lasting(try result.get(), of: client, metadata))
        } catch {
            return .failure(error)
        }
    }

    private func decoder(for profile: ProviderProfile, at now: Timestamp) -> TokenResponseDecoder {
        TokenResponseDecoder(sent: nil, profile: profile, now: now)
    }
}
