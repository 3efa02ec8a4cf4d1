import OAuthMessages
import RefreshCore

/// What all parts of the client need to reach servers: the connections, the facts remembered about servers, and the
/// configuration. A class, because every part of a request holds it.
final class ServerAccess: Sendable {
    let configuration: OAuthClientConfiguration
    let transport: HTTPTransport
    let cache: MetadataCache
    let keySets: KeySetCache
    let assertionFiles = AssertionFiles()

    init(configuration: OAuthClientConfiguration, exchanges: Exchanges) {
        self.configuration = configuration
        transport = HTTPTransport(exchanges: exchanges, configuration: configuration)
        cache = MetadataCache(
            fetch: MetadataFetch(transport: transport, configuration: configuration),
            configuration: configuration
        )
        keySets = KeySetCache(transport: transport, configuration: configuration)
    }

    /// What the headers of servers' answers said: DPoP nonces and clocks.
    var origins: OriginMemory { transport.origins }

    /// The metadata of `client`'s server.
    func metadata(for client: RequestingClient) async throws(RefreshFailure) -> AuthorizationServerMetadata {
        do throws(MetadataError) {
            return try await cache.metadata(for: MetadataCache.Key(issuer: client.issuer, profile: client.profile))
        } catch {
            var failure = error.refreshFailure
            failure.detail.correlationID = client.correlationID
            throw failure
        }
    }

    /// A post of `client` to `endpoint`. Run it within `totalTimeout` from now.
    func post(
        from client: RequestingClient,
        to endpoint: Endpoint,
        _ metadata: AuthorizationServerMetadata
    ) -> AuthenticatedPost {
        AuthenticatedPost(
            servers: self,
            endpoint: endpoint,
            profile: client.profile,
            registration: client.registration,
            offeredMethods: metadata.tokenEndpointAuthenticationMethods,
            knownEncoding: client.basicCredentialEncoding,
            correlationID: client.correlationID,
            deadline: configuration.uptime() + configuration.totalTimeout,
            metadata: metadata
        )
    }
}
