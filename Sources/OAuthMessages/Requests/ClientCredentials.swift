package import RefreshCore
internal import TextEncodings

/// How the client proves its identity in one request: the method, and the form of the credentials.
package struct ClientCredentials: Sendable {
    package let registration: ClientRegistration
    package var method: ClientAuthentication
    /// How id and secret are encoded. Only Basic uses it.
    package var encoding: BasicCredentialEncoding
    /// Whether to send `client_id` also in the body when Basic is used.
    ///
    /// RFC 6749 §3.2.1 allows it, and §2.3 forbids only a second *credential*. But the example in §6 has no
    /// `client_id`, and a few servers treat it as a second method. So it is sent only to servers that asked for it,
    /// such as those of the MCP SDK.
    package var repeatsClientID: Bool
    /// The form of the secret in the header. Only Basic uses it.
    package var scheme = ClientSecretScheme.basic
    /// What assertions name as their audience. Only methods with assertions use it.
    package var audience = AssertionAudience.issuer

    package init(
        registration: ClientRegistration,
        method: ClientAuthentication,
        encoding: BasicCredentialEncoding,
        repeatsClientID: Bool,
        scheme: ClientSecretScheme = .basic,
        audience: AssertionAudience = .issuer
    ) {
        self.registration = registration
        self.method = method
        self.encoding = encoding
        self.repeatsClientID = repeatsClientID
        self.scheme = scheme
        self.audience = audience
    }

    /// Chooses the method: that of the registration, or else that of the profile, or else one that fits the secret and
    /// the methods in the server's metadata.
    ///
    /// Basic is preferred to post, because RFC 6749 §2.3.1 requires servers to support it.
    package static func method(
        _ registration: ClientRegistration,
        profile: ProviderProfile?,
        offered: [String]?
    ) -> ClientAuthentication {
        if let method = registration.authentication { return method }
        // The server sees a `client_assertion` as that of a key.
        if registration.clientAssertionFile != nil { return .privateKeyJWT }
        if let method = profile?.authentication { return method }
        // Apple's client secret is made for each request, and sent as any other secret.
        if registration.teamID != nil { return .clientSecretPost }
        guard registration.clientSecret != nil else {
            // An assertion grant already names its client (RFC 7521 §4.1). Its key does not also authenticate the
            // client, unless the settings say so.
            guard registration.clientKey != nil, registration.serviceGrant?.kind != .jwtBearer else { return .none }
            let byKey: [ClientAuthentication] = [.privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth]
            return byKey.first { offered?.contains($0.rawValue) ?? false } ?? .privateKeyJWT
        }
        if let offered, offered.contains(ClientAuthentication.clientSecretJWT.rawValue),
            Set(offered).isDisjoint(with: [
                ClientAuthentication.clientSecretBasic.rawValue, ClientAuthentication.clientSecretPost.rawValue,
            ])
        {
            return .clientSecretJWT
        }
        guard let offered, !offered.contains(ClientAuthentication.clientSecretBasic.rawValue) else {
            return .clientSecretBasic
        }
        return offered.contains(ClientAuthentication.clientSecretPost.rawValue) ? .clientSecretPost : .clientSecretBasic
    }

    /// Whether form-encoding changes the content of the header.
    package var differsByEncoding: Bool {
        method == .clientSecretBasic && header(.formEncoded) != header(.raw)
    }

    /// The fields to add to the body; empty for plain Basic.
    ///
    /// - Parameter assertion: the result of `assertion(for:at:now:)`.
    package func fields(_ assertion: Secret?) -> [(name: String, value: String)] {
        let id = (name: "client_id", value: registration.clientID)
        let text = assertion?.reveal() ?? ""
        switch method {
        // RFC 8705 §2: the certificate is in the handshake, and `client_id` tells the server which client it belongs
        // to.
        case .none, .tlsClientAuth, .selfSignedTLSClientAuth: return [id]
        case .clientSecretBasic: return repeatsClientID ? [id] : []
        case .clientSecretPost:
            let secret = assertion ?? registration.clientSecret
            return [id] + (secret.map { [(name: "client_secret", value: $0.reveal())] } ?? [])
        case .clientSecretJWT, .privateKeyJWT:
            return [id, ("client_assertion_type", TokenSigner.assertionType), ("client_assertion", text)]
        }
    }

    /// The value of `Authorization`; nil if the method does not use it.
    package var authorization: String? {
        method == .clientSecretBasic ? header(encoding) : nil
    }

    private func header(_ encoding: BasicCredentialEncoding) -> String {
        let secret = registration.clientSecret?.reveal() ?? ""
        guard scheme == .basic else { return "Bearer " + secret }
        switch encoding {
        case .formEncoded:
            return "Basic "
                + Base64.encode(FormEncoding.encode(registration.clientID) + ":" + FormEncoding.encode(secret))
        case .raw:
            return "Basic " + Base64.encode(registration.clientID + ":" + secret)
        }
    }
}

/// The HTTP authentication scheme with which a client sends its secret in the header (`client_secret_basic`).
package enum ClientSecretScheme: String, Hashable, Sendable, CaseIterable {
    /// The client's id and secret (RFC 6749 §2.3.1).
    case basic
    /// The secret alone, as a bearer token (RFC 6750 §2.1). Stripe wants this; its secrets identify the client.
    case bearer
}

/// What an assertion names as its audience, the server that it is meant for.
package enum AssertionAudience: String, Hashable, Sendable, CaseIterable {
    /// The server's issuer. It is the only value that another server cannot also name (draft-ietf-oauth-rfc7523bis).
    case issuer
    /// The server's token endpoint, as in OpenID Connect Core §9. Entra and glewlwyd 2.7 accept nothing else.
    case tokenEndpoint = "token_endpoint"
    /// The address to which the request is sent.
    case endpoint
}

extension ClientCredentials {
    /// The assertion for one request; nil if the method needs none.
    ///
    /// - Parameters:
    ///   - endpoint: where the request is sent.
    ///   - now: the time by the server's clock, as far as it is known.
    /// - Throws: `JOSEError` if the key cannot be read, or cannot sign with an algorithm that the server accepts.
    package func assertion(
        for metadata: AuthorizationServerMetadata,
        at endpoint: Endpoint,
        now: Timestamp
    ) throws(JOSEError) -> Secret? {
        let signer: TokenSigner
        switch method {
        case .none, .clientSecretBasic, .tlsClientAuth, .selfSignedTLSClientAuth:
            return nil
        case .clientSecretPost:
            guard let teamID = registration.teamID else { return nil }
            // Apple accepts ES256, and publishes no list of algorithms.
            return try self.signer(offered: nil)
                .appleSecret(clientID: registration.clientID, teamID: teamID, now: now)
        case .clientSecretJWT:
            signer = TokenSigner(secret: registration.clientSecret ?? Secret(""))
        case .privateKeyJWT:
            signer = try self.signer(offered: metadata.tokenEndpointSigningAlgorithms)
        }
        let audience =
            switch audience {
            case .issuer: metadata.issuer.url
            case .tokenEndpoint: metadata.tokenEndpoint.url
            case .endpoint: endpoint.url
            }
        let clientID = registration.clientID
        return try signer.assertion(issuer: clientID, subject: clientID, audience: audience, now: now)
    }

    private func signer(offered: [String]?) throws(JOSEError) -> TokenSigner {
        guard let key = registration.clientKey else { throw .keyMalformed }
        return try TokenSigner(key: PrivateKey(key), keyID: registration.clientKeyID, offered: offered)
    }
}
