package import OAuthMessages
package import RefreshCore

/// Looks at servers without sending them a token.
package struct ServerInspection: Sendable {
    let servers: ServerAccess

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
        return try await CertificateProbe(configuration: servers.configuration).run(endpoint, caFile: profile?.caFile)
    }

    /// Whether requests to `endpoint` go through the proxy.
    package func usesProxy(for endpoint: Endpoint) -> Bool {
        servers.configuration.proxy.covers(endpoint)
    }

    /// How the client proves itself to a server that offers these methods.
    package func authenticationMethod(
        of registration: ClientRegistration,
        profile: ProviderProfile?,
        offered: [String]?
    ) -> ClientAuthentication {
        ClientCredentials.method(registration, profile: profile, offered: offered)
    }

    package var proxy: ProxySettings { servers.configuration.proxy }

    /// Looks at the server whose issuer is, or stands at, `issuer`, and describes it: a file for `providers.d`, comments and all.
    ///
    /// People give the address that they know, without the slash or the path that the issuer has: a document there that names another
    /// issuer of the same host is believed only if that issuer's own place says the same.
    ///
    /// - Parameter name: of the profile; nil makes one of the issuer's host.
    /// - Throws: `MetadataError` if the server publishes nothing, or speaks for another.
    @concurrent package func discover(
        at issuer: Issuer,
        name: String? = nil
    ) async throws(MetadataError) -> String {
        let (metadata, template) = try await find(at: issuer)
        return ProfileText(metadata: metadata, template: template, name: name).text
    }

    /// The issuer that is, or stands at, `issuer`.
    func located(at issuer: Issuer) async throws(MetadataError) -> Issuer {
        try await find(at: issuer).metadata.issuer
    }

    private func find(
        at issuer: Issuer
    ) async throws(MetadataError) -> (metadata: AuthorizationServerMetadata, template: String?) {
        let published: String?
        do throws(MetadataError) {
            return (try await look(at: issuer, nil), nil)
        } catch .issuerMismatch(let text) {
            published = text
        } catch {
            throw error
        }
        guard let published, Endpoint(published)?.host == Endpoint(issuer.url)?.host else {
            throw .issuerMismatch(published: published)
        }
        // Entra's shared authorities publish a text with the tenant's place in braces.
        if published.contains("{") { return (try await look(at: issuer, published), published) }
        guard let own = try? Issuer(url: published) else { throw .issuerMismatch(published: published) }
        return (try await look(at: own, nil), nil)
    }

    private func look(at issuer: Issuer, _ template: String?) async throws(MetadataError) -> AuthorizationServerMetadata
    {
        var profile = ProviderProfile(name: "discovered")
        profile.issuerTemplate = template
        return try await fetch.run(issuer: issuer, profile: template == nil ? nil : profile).metadata
    }

    private var fetch: MetadataFetch {
        MetadataFetch(transport: servers.transport, configuration: servers.configuration)
    }
}
