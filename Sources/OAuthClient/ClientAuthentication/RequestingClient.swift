package import RefreshCore

/// One client of one server, and one attempt at something: what requests of all kinds need.
package struct RequestingClient: Sendable {
    package var issuer: Issuer
    /// Nil for a server whose metadata says it all.
    package var profile: ProviderProfile?
    package var registration: ClientRegistration
    /// What an earlier exchange found out; nil lets this one find out.
    package var basicCredentialEncoding: BasicCredentialEncoding?
    /// Names the attempt in journals; sent where the profile says how.
    package var correlationID: String

    package init(
        issuer: Issuer,
        profile: ProviderProfile? = nil,
        registration: ClientRegistration,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        correlationID: String
    ) {
        self.issuer = issuer
        self.profile = profile
        self.registration = registration
        self.basicCredentialEncoding = basicCredentialEncoding
        self.correlationID = correlationID
    }

    /// What the person is asked to grant: `asked`, or else the account's scopes, or else the profile's.
    package func scopes(_ asked: [String]?) -> [String] {
        asked ?? (registration.scopes.isEmpty ? profile?.signIn.scopes ?? [] : registration.scopes)
    }

    /// Why nothing was sent: a setting has to be mended first.
    ///
    /// - Parameter detail: what it concerns; may be a peer's text.
    func misconfigured(_ summary: String, detail: String? = nil) -> RefreshFailure {
        RefreshFailure(
            .misconfigured,
            detail: FailureDetail(
                summary: summary,
                oauthErrorDescription: FailureText.clean(detail, hiding: []),
                correlationID: correlationID
            )
        )
    }

    /// What an exchange that did not succeed means.
    func failure(
        _ conclusion: AuthenticatedPost.Conclusion,
        hiding secrets: [Secret],
        now: Timestamp
    ) -> RefreshFailure {
        let all = secrets + (registration.clientSecret.map { [$0] } ?? [])
        return RefreshFailure(conclusion, hiding: all, correlationID: correlationID, now: now)
    }
}

extension OAuthClient {
    /// The metadata of `client`'s server, or what its absence means.
    func metadata(for client: RequestingClient) async throws(RefreshFailure) -> AuthorizationServerMetadata {
        do throws(MetadataError) {
            return try await cache.metadata(for: MetadataCache.Key(issuer: client.issuer, profile: client.profile))
        } catch {
            var failure = error.refreshFailure
            failure.detail.correlationID = client.correlationID
            throw failure
        }
    }

    /// A post of `client` to `endpoint`, to be run within `totalTimeout` from now.
    func post(
        from client: RequestingClient,
        to endpoint: Endpoint,
        _ metadata: AuthorizationServerMetadata,
        format: BodyFormat = .form,
        isSentOnce: Bool = false,
        namesClient: Bool = false,
        encoding: BasicCredentialEncoding? = nil
    ) -> AuthenticatedPost {
        AuthenticatedPost(
            exchange: exchange,
            cache: cache,
            configuration: configuration,
            endpoint: endpoint,
            profile: client.profile,
            registration: client.registration,
            offeredMethods: metadata.tokenEndpointAuthenticationMethods,
            knownEncoding: encoding ?? client.basicCredentialEncoding,
            correlationID: client.correlationID,
            workedBefore: false,
            deadline: configuration.uptime() + configuration.totalTimeout,
            format: format,
            isSentOnce: isSentOnce,
            namesClient: namesClient,
            metadata: metadata
        )
    }
}
