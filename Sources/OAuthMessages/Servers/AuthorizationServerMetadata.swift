package import RefreshCore

/// The metadata that an authorization server publishes about itself (RFC 8414 §2), as far as this client needs it. A
/// list is nil if the server does not publish it.
package struct AuthorizationServerMetadata: Hashable, Sendable {
    package let issuer: Issuer
    package let tokenEndpoint: Endpoint
    /// Where to revoke tokens (RFC 7009); nil if the server has no such endpoint.
    package var revocationEndpoint: Endpoint?
    /// Where to ask about tokens (RFC 7662); nil if the server has no such endpoint.
    package var introspectionEndpoint: Endpoint?
    package var endpoints = ServerEndpoints()
    /// The names of published endpoints that cannot be used. They count as missing.
    package var unusableEndpoints: Set<String> = []
    /// `token_endpoint_auth_methods_supported`; nil means Basic (RFC 8414 §2).
    package var tokenEndpointAuthenticationMethods: [String]?
    /// `token_endpoint_auth_signing_alg_values_supported`: the algorithms with which clients may sign assertions.
    package var tokenEndpointSigningAlgorithms: [String]?
    /// `revocation_endpoint_auth_methods_supported`; nil as above.
    package var revocationEndpointAuthenticationMethods: [String]?
    /// `grant_types_supported`. Many servers forget `refresh_token` in it.
    package var grantTypes: [String]?
    /// `scopes_supported`; servers need not name all (RFC 8414 §2).
    package var scopes: [String]?
    /// `code_challenge_methods_supported`. Nil says nothing: the server may support PKCE or not.
    package var codeChallengeMethods: [String]?
    /// `prompt_values_supported` (OpenID Connect Initiating User Registration §3.1); nil if the server does not say.
    package var promptValues: [String]?
    /// `request_object_signing_alg_values_supported` (RFC 9101).
    package var requestObjectSigningAlgorithms: [String]?
    /// `require_pushed_authorization_requests` (RFC 9126 §5).
    package var requiresPushedAuthorizationRequests = false
    /// `require_signed_request_object` (RFC 9101 §10.5).
    package var requiresSignedRequestObjects = false
    /// `authorization_response_iss_parameter_supported`: each authorization response names its issuer (RFC 9207 §3).
    package var namesIssuerInResponses = false
    /// `mtls_endpoint_aliases` by the names of the endpoints they stand for (RFC 8705 §5).
    package var mutualTLSAliases: [String: Endpoint] = [:]

    package init(issuer: Issuer, tokenEndpoint: Endpoint) {
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
    }
}

extension AuthorizationServerMetadata {
    /// The two places where the document of `issuer` may be: OpenID Connect Discovery §4 appends to the issuer's path,
    /// RFC 8414 §3.1 inserts before it. Both drop a slash at the issuer's end.
    package static func locations(of issuer: Issuer) -> (openID: Endpoint?, oauth: Endpoint?) {
        let base = issuer.url.hasSuffix("/") ? String(issuer.url.dropLast()) : issuer.url
        guard let endpoint = Endpoint(base) else { return (nil, nil) }
        let origin = base.dropLast(endpoint.path.count)
        return (
            Endpoint(base + "/.well-known/openid-configuration"),
            Endpoint(origin + "/.well-known/oauth-authorization-server" + endpoint.path)
        )
    }

    /// A third place, for an issuer with a path; nil for others. RFC 8414 §3.1 also inserts names other than its own,
    /// and some servers so publish only `/.well-known/openid-configuration/tenant`.
    package static func insertedOpenIDLocation(of issuer: Issuer) -> Endpoint? {
        let places = locations(of: issuer)
        guard let oauth = places.oauth?.url, let openID = places.openID?.url else { return nil }
        let inserted = oauth.replacing("/oauth-authorization-server", with: "/openid-configuration", maxReplacements: 1)
        return inserted == openID ? nil : Endpoint(inserted)
    }

    /// The metadata from `profile`, which replaces all documents; nil if the profile names no token endpoint.
    package init?(issuer: Issuer, profile: ProviderProfile?) {
        guard let profile, let endpoint = profile.tokenEndpoint else { return nil }
        self.init(issuer: issuer, tokenEndpoint: endpoint)
        revocationEndpoint = profile.revocationEndpoint
        endpoints = profile.endpoints
    }

    /// The address of `endpoint` for clients with a certificate (RFC 8705 §5); nil if it is the same.
    package func mutualTLSAlias(of endpoint: Endpoint) -> Endpoint? {
        if endpoint == tokenEndpoint { return mutualTLSAliases["token_endpoint"] }
        if endpoint == revocationEndpoint { return mutualTLSAliases["revocation_endpoint"] }
        let name = ServerEndpoints.names.first { endpoints[keyPath: $0.path] == endpoint }?.name
        return name.flatMap { mutualTLSAliases[$0] }
    }

    /// The metadata with the endpoints of `profile` instead of the published ones. Some servers forget an endpoint in
    /// all of their documents (django-oauth-toolkit: device_authorization_endpoint).
    package func amended(by profile: ProviderProfile?) -> AuthorizationServerMetadata {
        guard let profile else { return self }
        var amended = self
        amended.revocationEndpoint = profile.revocationEndpoint ?? revocationEndpoint
        amended.endpoints = profile.endpoints.completed(by: endpoints)
        return amended
    }

    /// Reads the fields of one or two documents of `issuer`. Fields of the first document are preferred.
    ///
    /// Two documents are needed because django-oauth-toolkit publishes some endpoints in one of them only.
    ///
    /// - Throws: `issuerMismatch`, `noTokenEndpoint` or `unusableEndpoint`.
    package init(
        issuer: Issuer,
        template: String?,
        documents: [[String: JSONTree]]
    ) throws(MetadataError) {
        // The issuer is compared byte for byte (RFC 8414 §3.3). Otherwise one server could pose as another. Entra's
        // template is the known exception.
        let published = documents.map { $0["issuer"]?.text }
        let own = zip(documents, published).filter { $1 == issuer.url || ($1 != nil && $1 == template) }.map(\.0)
        guard !own.isEmpty else {
            throw .issuerMismatch(published: FailureText.clean(published.compactMap { $0 }.first, hiding: []))
        }
        let reading = MetadataReading(issuer: issuer, documents: own)
        guard let tokenEndpoint = try reading.endpoint("token_endpoint") else { throw .noTokenEndpoint }
        self.init(issuer: issuer, tokenEndpoint: tokenEndpoint)
        // If one of these cannot be used, it counts as missing. It must not prevent the refresh of tokens.
        revocationEndpoint = try? reading.endpoint("revocation_endpoint")
        introspectionEndpoint = try? reading.endpoint("introspection_endpoint")
        for (name, path) in ServerEndpoints.names {
            do throws(MetadataError) {
                endpoints[keyPath: path] = try reading.endpoint(name)
            } catch {
                unusableEndpoints.insert(name)
            }
        }
        mutualTLSAliases = reading.aliases
        tokenEndpointAuthenticationMethods = reading.names("token_endpoint_auth_methods_supported")
        revocationEndpointAuthenticationMethods = reading.names("revocation_endpoint_auth_methods_supported")
        tokenEndpointSigningAlgorithms = reading.names("token_endpoint_auth_signing_alg_values_supported")
        grantTypes = reading.names("grant_types_supported")
        scopes = reading.names("scopes_supported")
        codeChallengeMethods = reading.names("code_challenge_methods_supported")
        promptValues = reading.names("prompt_values_supported")
        requestObjectSigningAlgorithms = reading.names("request_object_signing_alg_values_supported")
        requiresPushedAuthorizationRequests = reading.holds("require_pushed_authorization_requests")
        requiresSignedRequestObjects = reading.holds("require_signed_request_object")
        namesIssuerInResponses = reading.holds("authorization_response_iss_parameter_supported")
    }
}

/// The fields of an issuer's own documents. Those of the first document are preferred.
private struct MetadataReading {
    let issuer: Issuer
    let documents: [[String: JSONTree]]

    /// - Throws: `unusableEndpoint`.
    func endpoint(_ name: String) throws(MetadataError) -> Endpoint? {
        guard let text = documents.compactMap({ $0[name]?.text }).first else { return nil }
        guard let endpoint = usable(text) else { throw .unusableEndpoint(name) }
        return endpoint
    }

    func names(_ name: String) -> [String]? {
        documents.compactMap { $0[name]?.texts }.first
    }

    /// Whether a document has `true` for the name.
    func holds(_ name: String) -> Bool {
        documents.contains { $0[name] == .boolean(true) }
    }

    var aliases: [String: Endpoint] {
        let fields = documents.compactMap { $0["mtls_endpoint_aliases"]?.fields }.first ?? [:]
        return fields.compactMapValues { $0.text.flatMap(usable) }
    }

    /// The endpoint, if it may be used. Tokens of a remote server must not be sent to a service on this machine.
    private func usable(_ text: String) -> Endpoint? {
        Endpoint(text).flatMap { !$0.isLoopback || issuer.isLoopback ? $0 : nil }
    }
}

/// The endpoints of an authorization server for sign-in, sign-out and registration; nil if it has no such endpoint.
///
/// Metadata and provider profiles use the same names.
package struct ServerEndpoints: Hashable, Sendable {
    /// Where a person's browser is sent to sign in (RFC 6749 §3.1).
    package var authorization: Endpoint?
    /// Where device codes are requested (RFC 8628 §3.1).
    package var deviceAuthorization: Endpoint?
    /// Where authorization requests are pushed (RFC 9126 §2).
    package var pushedAuthorizationRequest: Endpoint?
    /// Where a person's browser is sent to end the session (OpenID Connect RP-Initiated Logout §2).
    package var endSession: Endpoint?
    /// Where clients are registered (RFC 7591 §3).
    package var registration: Endpoint?
    /// Where the server's keys can be fetched (RFC 7517 §5).
    package var keySet: Endpoint?
    /// Where the server tells who signed in (OpenID Connect Core §5.3).
    package var userInfo: Endpoint?

    package init() {}

    /// The names of the endpoints in metadata (RFC 8414 §2) and in profiles.
    package static let names: [(name: String, path: any WritableKeyPath<ServerEndpoints, Endpoint?> & Sendable)] = [
        ("authorization_endpoint", \.authorization),
        ("device_authorization_endpoint", \.deviceAuthorization),
        ("pushed_authorization_request_endpoint", \.pushedAuthorizationRequest),
        ("end_session_endpoint", \.endSession),
        ("registration_endpoint", \.registration),
        ("jwks_uri", \.keySet),
        ("userinfo_endpoint", \.userInfo),
    ]

    /// These endpoints. Missing ones are taken from `others`.
    package func completed(by others: ServerEndpoints) -> ServerEndpoints {
        var all = self
        for (_, path) in Self.names where all[keyPath: path] == nil { all[keyPath: path] = others[keyPath: path] }
        return all
    }
}
