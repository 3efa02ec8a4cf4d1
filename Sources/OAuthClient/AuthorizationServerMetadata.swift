package import RefreshCore

/// What an authorization server publishes about itself (RFC 8414 §2), as far as refreshing and revoking need it.
package struct AuthorizationServerMetadata: Hashable, Sendable {
    package let issuer: Issuer
    package let tokenEndpoint: Endpoint
    /// RFC 7009; nil if the server has none.
    package let revocationEndpoint: Endpoint?
    /// `token_endpoint_auth_methods_supported`; nil if it does not say, which means Basic (RFC 8414 §2).
    package let tokenEndpointAuthenticationMethods: [String]?
    /// `revocation_endpoint_auth_methods_supported`; nil as above.
    package let revocationEndpointAuthenticationMethods: [String]?
    /// `grant_types_supported`; nil if it does not say. Many servers forget `refresh_token` in it.
    package let grantTypes: [String]?
}

extension AuthorizationServerMetadata {
    /// The two places where the document of `issuer` may be: OpenID Connect Discovery §4 appends, RFC 8414 §3.1 inserts
    /// before the issuer's path. Both drop a slash at the issuer's end.
    static func locations(of issuer: Issuer) -> (openID: Endpoint?, oauth: Endpoint?) {
        let base = issuer.url.hasSuffix("/") ? String(issuer.url.dropLast()) : issuer.url
        guard let endpoint = Endpoint(base) else { return (nil, nil) }
        let origin = base.dropLast(endpoint.path.count)
        return (
            Endpoint(base + "/.well-known/openid-configuration"),
            Endpoint(origin + "/.well-known/oauth-authorization-server" + endpoint.path)
        )
    }

    /// What `profile` says instead of any document; nil if it names no token endpoint.
    init?(issuer: Issuer, profile: ProviderProfile?) {
        guard let profile, let endpoint = profile.tokenEndpoint else { return nil }
        self.init(
            issuer: issuer,
            tokenEndpoint: endpoint,
            revocationEndpoint: profile.revocationEndpoint,
            tokenEndpointAuthenticationMethods: nil,
            revocationEndpointAuthenticationMethods: nil,
            grantTypes: nil
        )
    }

    /// Reads the fields of one or two documents of `issuer`, the first one's before the second one's.
    ///
    /// django-oauth-toolkit publishes some endpoints in one document only.
    ///
    /// - Throws: `issuerMismatch`, `noTokenEndpoint` or `unusableEndpoint`.
    init(
        issuer: Issuer,
        template: String?,
        documents: [[String: JSONValue]]
    ) throws(MetadataError) {
        // Byte for byte (RFC 8414 §3.3), or one server could speak for another; the template is Entra's known
        // exception.
        let published = documents.map { $0["issuer"]?.text }
        let own = zip(documents, published).filter { $1 == issuer.url || ($1 != nil && $1 == template) }.map(\.0)
        guard !own.isEmpty else {
            throw .issuerMismatch(published: FailureText.clean(published.compactMap { $0 }.first, hiding: []))
        }
        let endpoint = { (name: String) throws(MetadataError) -> Endpoint? in
            guard let text = own.compactMap({ $0[name]?.text }).first else { return nil }
            // Tokens of a server out there must not go to whatever listens on this machine.
            guard let endpoint = Endpoint(text), !endpoint.isLoopback || issuer.isLoopback else {
                throw .unusableEndpoint(name)
            }
            return endpoint
        }
        guard let tokenEndpoint = try endpoint("token_endpoint") else { throw .noTokenEndpoint }
        let names = { (name: String) in own.compactMap { $0[name]?.texts }.first }
        self.init(
            issuer: issuer,
            tokenEndpoint: tokenEndpoint,
            revocationEndpoint: try endpoint("revocation_endpoint"),
            tokenEndpointAuthenticationMethods: names("token_endpoint_auth_methods_supported"),
            revocationEndpointAuthenticationMethods: names("revocation_endpoint_auth_methods_supported"),
            grantTypes: names("grant_types_supported")
        )
    }
}
