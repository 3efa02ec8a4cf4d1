package import RefreshCore

/// Looking at a server without sending it a token.
extension OAuthClient {
    /// What a server published just now.
    package struct PublishedMetadata: Sendable {
        package let metadata: AuthorizationServerMetadata
        /// The server's clock when it answered; nil if it did not say, or was not asked.
        package let serverDate: Timestamp?
        /// Whether a provider profile stands for the document, so that nothing was fetched.
        package let isFromProfile: Bool
    }

    /// The server's metadata, fetched anew.
    @concurrent package func publishedMetadata(
        of issuer: Issuer,
        profile: ProviderProfile?
    ) async throws(MetadataError) -> PublishedMetadata {
        if let metadata = AuthorizationServerMetadata(issuer: issuer, profile: profile) {
            return PublishedMetadata(metadata: metadata, serverDate: nil, isFromProfile: true)
        }
        let fetch = MetadataFetch(exchange: exchange, configuration: configuration)
        let result = try await fetch.run(issuer: issuer, profile: profile)
        return PublishedMetadata(metadata: result.metadata, serverDate: result.serverDate, isFromProfile: false)
    }

    /// The certificate of the server at `endpoint`, checked as for a refresh; nil if there is none to see: the connection is plain, or
    /// a proxy's.
    @concurrent package func certificate(
        of endpoint: Endpoint,
        profile: ProviderProfile?
    ) async throws(CertificateProbeError) -> ServerCertificate? {
        guard endpoint.isSecure, !usesProxy(for: endpoint) else { return nil }
        return try await CertificateProbe(configuration: configuration).run(endpoint, caFile: profile?.caFile)
    }

    /// Whether requests to `endpoint` go through the proxy.
    package func usesProxy(for endpoint: Endpoint) -> Bool {
        configuration.proxy.covers(endpoint)
    }

    /// How the client proves itself to a server that offers these methods.
    package func authenticationMethod(
        of registration: ClientRegistration,
        profile: ProviderProfile?,
        offered: [String]?
    ) -> ClientAuthentication {
        ClientCredentials.method(registration, profile: profile, offered: offered)
    }

    package var proxy: ProxySettings { configuration.proxy }
}
