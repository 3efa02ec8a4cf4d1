package import JOSE
package import RefreshCore
internal import TextEncodings

/// How the client proves itself in one request: the method, and how it is written.
package struct ClientCredentials: Sendable {
    package let registration: ClientRegistration
    package var method: ClientAuthentication
    /// Meaningful for Basic only.
    package var encoding: BasicCredentialEncoding
    /// Whether `client_id` stands in the body too when Basic is used.
    ///
    /// RFC 6749 §3.2.1 lets any client name itself so, and §2.3 forbids only a second *credential*, but §6's example
    /// has none and a few servers take it for a second method. So it is sent only where a server asked for it (the MCP
    /// SDK's servers do).
    package var repeatsClientID: Bool
    /// Meaningful for Basic only.
    package var scheme = ClientSecretScheme.basic
    /// Meaningful for assertions only.
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

    /// Chooses the method: the registration's, the profile's, else by the secret and what the server's metadata offers.
    ///
    /// Basic goes before post: RFC 6749 §2.3.1 obliges servers to take it.
    package static func method(
        _ registration: ClientRegistration,
        profile: ProviderProfile?,
        offered: [String]?
    ) -> ClientAuthentication {
        if let method = registration.authentication ?? profile?.authentication { return method }
        // Apple's, which is made for each request and sent as any other.
        if registration.teamID != nil { return .clientSecretPost }
        guard registration.clientSecret != nil else {
            // An assertion speaks for itself (RFC 7521 §4.1): its key proves nothing beside, unless somebody says so.
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

    /// Whether form-encoding changes what stands in the header.
    package var differsByEncoding: Bool {
        method == .clientSecretBasic && header(.formEncoded) != header(.raw)
    }

    /// The fields that belong in the body; empty for plain Basic.
    ///
    /// - Parameter assertion: what `assertion(in:)` gave.
    package func fields(_ assertion: Secret?) -> [(name: String, value: String)] {
        let id = (name: "client_id", value: registration.clientID)
        let text = assertion?.reveal() ?? ""
        switch method {
        // RFC 8705 §2: the certificate is in the handshake, and the server has to know whose it must be.
        case .none, .tlsClientAuth, .selfSignedTLSClientAuth: return [id]
        case .clientSecretBasic: return repeatsClientID ? [id] : []
        case .clientSecretPost:
            let secret = assertion ?? registration.clientSecret
            return [id] + (secret.map { [(name: "client_secret", value: $0.reveal())] } ?? [])
        case .clientSecretJWT, .privateKeyJWT:
            return [id, ("client_assertion_type", ClientAssertion.type), ("client_assertion", text)]
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

/// The HTTP authentication scheme by which a client shows its secret in the header (`client_secret_basic`).
package enum ClientSecretScheme: String, Hashable, Sendable, CaseIterable {
    /// RFC 6749 §2.3.1, with the client's id.
    case basic
    /// The secret alone (RFC 6750 §2.1), which says by itself whose it is: Stripe.
    case bearer
}

/// What an assertion names as the server it is for.
package enum AssertionAudience: String, Hashable, Sendable, CaseIterable {
    /// Its issuer, and nothing that another server could be made to name (draft-ietf-oauth-rfc7523bis).
    case issuer
    /// Its token endpoint, as OpenID Connect Core §9 had it: Entra and glewlwyd 2.7 take nothing else.
    case tokenEndpoint = "token_endpoint"
    /// The address that the request goes to.
    case endpoint
}

extension ClientCredentials {
    /// Where and when an assertion is to be used.
    package struct Occasion {
        let metadata: AuthorizationServerMetadata
        /// Where the request goes.
        let endpoint: Endpoint
        /// By the server's clock, as far as it is known.
        let now: Timestamp
        /// Makes 16 bytes that were never used before, for the methods that need them.
        let random: () -> [UInt8]

        package init(
            metadata: AuthorizationServerMetadata,
            endpoint: Endpoint,
            now: Timestamp,
            random: @escaping () -> [UInt8]
        ) {
            self.metadata = metadata
            self.endpoint = endpoint
            self.now = now
            self.random = random
        }
    }

    /// The token by which the client proves itself, made for one request; nil if the method needs none.
    ///
    /// - Throws: `JOSEError` if the key cannot be read or cannot sign what the server takes.
    package func assertion(on occasion: Occasion) throws(JOSEError) -> Secret? {
        switch method {
        case .none, .clientSecretBasic, .tlsClientAuth, .selfSignedTLSClientAuth:
            return nil
        case .clientSecretPost:
            guard let teamID = registration.teamID else { return nil }
            return try ClientAssertion.appleSecret(
                clientID: registration.clientID,
                teamID: teamID,
                // Apple takes ES256, and publishes no list for it.
                signer: try signer(offered: nil),
                now: occasion.now
            )
        case .clientSecretJWT:
            return try assertion(by: TokenSigner(secret: registration.clientSecret ?? Secret("")), on: occasion)
        case .privateKeyJWT:
            return try assertion(by: signer(offered: occasion.metadata.tokenEndpointSigningAlgorithms), on: occasion)
        }
    }

    private func assertion(by signer: TokenSigner, on occasion: Occasion) throws(JOSEError) -> Secret {
        let audience =
            switch audience {
            case .issuer: occasion.metadata.issuer.url
            case .tokenEndpoint: occasion.metadata.tokenEndpoint.url
            case .endpoint: occasion.endpoint.url
            }
        return try ClientAssertion.client(
            registration.clientID,
            audience: audience,
            signer: signer,
            now: occasion.now,
            random: occasion.random()
        )
    }

    private func signer(offered: [String]?) throws(JOSEError) -> TokenSigner {
        guard let key = registration.clientKey else { throw .keyMalformed }
        return try TokenSigner(key: PrivateKey(key), keyID: registration.clientKeyID, offered: offered)
    }
}
