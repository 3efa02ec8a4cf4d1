import JOSE
internal import RefreshCore
import TextEncodings

/// How the client proves itself in one request: the method, and how it is written.
struct ClientCredentials: Sendable {
    let registration: ClientRegistration
    var method: ClientAuthentication
    /// Meaningful for Basic only.
    var encoding: BasicCredentialEncoding
    /// Whether `client_id` stands in the body too when Basic is used.
    ///
    /// RFC 6749 §3.2.1 lets any client name itself so, and §2.3 forbids only a second *credential*, but §6's example
    /// has none and a few servers take it for a second method. So it is sent only where a server asked for it (the MCP
    /// SDK's servers do).
    var repeatsClientID: Bool
    /// Meaningful for Basic only.
    var scheme = ClientSecretScheme.basic
    /// Meaningful for assertions only.
    var audience = AssertionAudience.issuer

    /// Chooses the method: the registration's, the profile's, else by the secret and what the server's metadata offers.
    ///
    /// Basic goes before post: RFC 6749 §2.3.1 obliges servers to take it.
    static func method(
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
    var differsByEncoding: Bool {
        method == .clientSecretBasic && header(.formEncoded) != header(.raw)
    }

    /// The fields that belong in the body; empty for plain Basic.
    ///
    /// - Parameter assertion: what `assertion(in:)` gave.
    func fields(_ assertion: Secret?) -> [(name: String, value: String)] {
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
    var authorization: String? {
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
    struct Occasion {
        let metadata: AuthorizationServerMetadata
        /// Where the request goes.
        let endpoint: Endpoint
        /// By the server's clock, as far as it is known.
        let now: Timestamp
        /// Makes 16 bytes that were never used before, for the methods that need them.
        let random: () -> [UInt8]
    }

    /// The token by which the client proves itself, made for one request; nil if the method needs none.
    ///
    /// - Throws: `JOSEError` if the key cannot be read or cannot sign what the server takes.
    func assertion(on occasion: Occasion) throws(JOSEError) -> Secret? {
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

/// Finds out how a server wants a Basic secret written before a refresh token is at stake.
///
/// `AuthenticatedPost` tries the raw form once the standard one was refused, because authentication comes before the grant
/// (RFC 6749 §3.2.1). glewlwyd 2.7.5 takes only the raw form and spends the refresh token *before* it looks at the client:
/// there that try ends the grant (seen). A made-up token at the revocation endpoint costs nothing, for a server that accepts
/// the client answers 200 to a token it does not know (RFC 7009 §2.2).
struct BasicEncodingProbe: Sendable {
    let servers: ServerAccess

    /// `raw` if the server refused the standard form and took the raw one; nil if that is not known.
    ///
    /// That the standard form is taken proves nothing: some servers do not authenticate clients at this endpoint at all.
    func run(
        _ client: RequestingClient,
        at metadata: AuthorizationServerMetadata
    ) async -> BasicCredentialEncoding? {
        guard client.basicCredentialEncoding == nil, let endpoint = metadata.revocationEndpoint,
            client.profile?.revocationForm.isStandard ?? true,
            isWorthwhile(client, offered: metadata.tokenEndpointAuthenticationMethods)
        else { return nil }
        var registration = client.registration
        registration.authentication = .clientSecretBasic
        let post = AuthenticatedPost(
            servers: servers,
            endpoint: endpoint,
            profile: client.profile,
            registration: registration,
            offeredMethods: nil,
            knownEncoding: nil,
            correlationID: client.correlationID,
            // An endpoint that hangs must leave the refresh itself its time.
            deadline: servers.configuration.uptime() + servers.configuration.totalTimeout / 4
        )
        let fields = [("token", "rehearsal-" + client.correlationID), ("token_type_hint", "refresh_token")]
        let conclusion = await post.run(fields) { answer, body in
            (200...299).contains(answer.status) && ErrorReading(body.fields).error == nil
        }
        return conclusion.foundEncoding == .raw ? .raw : nil
    }

    /// How Basic credentials have to be written, found out at the token endpoint with a made-up code; nil if that was not needed or
    /// gave no answer. The method, the place of `client_id` and the audience of assertions are remembered.
    ///
    /// A code is sent once, so the guessing that a refused refresh allows has to be over before. A server that knows the client
    /// answers `invalid_grant` to a code that it does not know (RFC 6749 §5.2).
    func run(
        atTokenEndpointOf metadata: AuthorizationServerMetadata,
        as client: RequestingClient,
        redirectURI: String
    ) async -> BasicCredentialEncoding? {
        let offered = metadata.tokenEndpointAuthenticationMethods
        let guess = ClientCredentials(
            registration: client.registration,
            method: ClientCredentials.method(client.registration, profile: client.profile, offered: offered),
            encoding: .formEncoded,
            repeatsClientID: false,
            scheme: client.profile?.clientSecretScheme ?? .basic
        )
        let isChosen = client.registration.authentication != nil || client.profile?.authentication != nil
        let isEncodingOpen = guess.differsByEncoding && client.basicCredentialEncoding == nil
        let isOpen =
            switch guess.method {
            case .clientSecretBasic: guess.scheme == .basic && (!isChosen || isEncodingOpen)
            case .clientSecretJWT, .privateKeyJWT: client.profile?.assertionAudience == nil
            case .none, .clientSecretPost, .tlsClientAuth, .selfSignedTLSClientAuth: false
            }
        guard isOpen else { return nil }
        let place = MetadataCache.ClientAt(endpoint: metadata.tokenEndpoint, clientID: client.registration.clientID)
        let learned = servers.cache.learnedForm(of: place)
        guard isEncodingOpen || learned == nil else { return nil }
        let post = AuthenticatedPost(
            servers: servers,
            endpoint: metadata.tokenEndpoint,
            profile: client.profile,
            registration: client.registration,
            offeredMethods: offered,
            knownEncoding: client.basicCredentialEncoding,
            correlationID: client.correlationID,
            deadline: servers.configuration.uptime() + servers.configuration.totalTimeout / 4,
            format: client.profile?.bodyFormat ?? .form,
            metadata: metadata
        )
        let madeUp = "rehearsal-" + client.correlationID
        let fields = [
            ("grant_type", "authorization_code"), ("code", madeUp), ("redirect_uri", redirectURI),
            // RFC 7636 §4.1 wants 43 characters at least.
            ("code_verifier", madeUp + String(repeating: "-", count: 43)),
        ]
        return await post.run(fields) { _, _ in false }.foundEncoding
    }

    /// Whether the first refresh would have to guess between two forms.
    private func isWorthwhile(_ client: RequestingClient, offered: [String]?) -> Bool {
        ClientCredentials(
            registration: client.registration,
            method: ClientCredentials.method(client.registration, profile: client.profile, offered: offered),
            encoding: .formEncoded,
            repeatsClientID: false,
            scheme: client.profile?.clientSecretScheme ?? .basic
        ).differsByEncoding
    }
}
