package import OAuthMessages
package import RefreshCore

/// Reads what servers publish, without sending them a token.
package struct ServerInspection: Sendable {
    let servers: ServerAccess

    /// The metadata that a server published just now.
    package struct PublishedMetadata: Sendable {
        package let metadata: AuthorizationServerMetadata
        /// The server's clock at the time of the answer; nil if the answer has no date, or nothing was fetched.
        package let serverDate: Timestamp?
    }

    /// Fetches the server's metadata, even if a copy is at hand.
    @concurrent package func publishedMetadata(
        of issuer: Issuer,
        profile: ProviderProfile?
    ) async throws(MetadataError) -> PublishedMetadata {
        if let metadata = AuthorizationServerMetadata(issuer: issuer, profile: profile) {
            return PublishedMetadata(metadata: metadata, serverDate: nil)
        }
        let result = try await fetch.run(issuer: issuer, profile: profile)
        return PublishedMetadata(metadata: result.metadata, serverDate: result.serverDate)
    }

    /// Opens a TLS connection to `endpoint` as a refresh does, reads the certificate and closes the connection. Sends no
    /// request. Nil if the connection is not encrypted or goes through a proxy.
    @concurrent package func certificate(
        of endpoint: Endpoint,
        profile: ProviderProfile?
    ) async -> CertificateFinding? {
        guard endpoint.isSecure, !usesProxy(for: endpoint) else { return nil }
        do throws(TransportFailure) {
            let certificate = try await servers.transport.certificate(
                of: endpoint,
                caFile: profile?.caFile,
                verifies: true
            )
            return certificate.map { .trusted($0) } ?? .refused(.tls, nil)
        } catch {
            guard [.certificateExpired, .certificateNotYetValid, .certificateAuthority].contains(error.cause) else {
                return .refused(error.cause, nil)
            }
            // A refused certificate is read over a second connection, which accepts any and transfers no data.
            let refused = try? await servers.transport.certificate(
                of: endpoint,
                caFile: profile?.caFile,
                verifies: false
            )
            return .refused(error.cause, refused)
        }
    }

    /// Whether requests to `endpoint` go through the configured proxy.
    package func usesProxy(for endpoint: Endpoint) -> Bool {
        servers.configuration.proxy.covers(endpoint)
    }

    /// The method with which the client authenticates at a server that offers these methods.
    package func authenticationMethod(
        of registration: ClientRegistration,
        profile: ProviderProfile?,
        offered: [String]?
    ) -> ClientAuthentication {
        ClientCredentials.method(registration, profile: profile, offered: offered)
    }

    package var proxy: ProxySettings { servers.configuration.proxy }

    /// Describes the server at `issuer` in a file for `providers.d`, with comments.
    ///
    /// `issuer` may be the address that people know, which lacks the slash or the path of the real issuer. If the
    /// document there names another issuer of the same host, that issuer's own document has to confirm it.
    ///
    /// - Parameter name: the profile's name; nil makes one from the issuer's host.
    /// - Throws: `MetadataError` if the server publishes nothing, or speaks for another issuer.
    @concurrent package func discover(
        at issuer: Issuer,
        name: String? = nil
    ) async throws(MetadataError) -> String {
        let (metadata, template) = try await find(at: issuer)
        return metadata.profileText(template: template, name: name)
    }

    /// The server's real issuer, if people know it as `issuer`.
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
        // Entra's shared authorities publish an issuer with a placeholder in braces instead of the tenant.
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
