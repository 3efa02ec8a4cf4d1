import JOSE
internal import RefreshCore
import TextEncodings

/// How the client proves its identity in one request: the method, and the form of the credentials.
struct ClientCredentials: Sendable {
    let registration: ClientRegistration
    var method: ClientAuthentication
    /// How id and secret are encoded. Used by Basic only.
    var encoding: BasicCredentialEncoding
    /// Whether to send `client_id` also in the body when Basic is used.
    ///
    /// RFC 6749 §3.2.1 allows it, and §2.3 forbids only a second *credential*. But the example in §6 has no
    /// `client_id`, and a few servers take it for a second method. So it is sent only to servers that asked for it,
    /// such as those of the MCP SDK.
    var repeatsClientID: Bool
    /// How the secret stands in the header. Used by Basic only.
    var scheme = ClientSecretScheme.basic
    /// What assertions name as their audience. Used by methods with assertions only.
    var audience = AssertionAudience.issuer

    /// Chooses the method: that of the registration, or that of the profile, or one that suits the secret and the
    /// methods that the server's metadata offers.
    ///
    /// Basic is preferred to post, because RFC 6749 §2.3.1 requires servers to support it.
    static func method(
        _ registration: ClientRegistration,
        profile: ProviderProfile?,
        offered: [String]?
    ) -> ClientAuthentication {
        if let method = registration.authentication ?? profile?.authentication { return method }
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
    var differsByEncoding: Bool {
        method == .clientSecretBasic && header(.formEncoded) != header(.raw)
    }

    /// The fields to add to the body; empty for plain Basic.
    ///
    /// - Parameter assertion: the result of `assertion(on:)`.
    func fields(_ assertion: Secret?) -> [(name: String, value: String)] {
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
    /// The request for which an assertion is made: where it goes, and when.
    struct Occasion {
        let metadata: AuthorizationServerMetadata
        /// Where the request is sent.
        let endpoint: Endpoint
        /// The time by the server's clock, as far as it is known.
        let now: Timestamp
        /// Makes 16 bytes that were never used before. Only some methods need them.
        let random: () -> [UInt8]
    }

    /// The assertion for one request; nil if the method needs none.
    ///
    /// - Throws: `JOSEError` if the key cannot be read, or cannot sign with an algorithm that the server accepts.
    func assertion(on occasion: Occasion) throws(JOSEError) -> Secret? {
        switch method {
        case .none, .clientSecretBasic, .tlsClientAuth, .selfSignedTLSClientAuth:
            return nil
        case .clientSecretPost:
            guard let teamID = registration.teamID else { return nil }
            return try ClientAssertion.appleSecret(
                clientID: registration.clientID,
                teamID: teamID,
                // Apple accepts ES256, and publishes no list of algorithms.
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

/// Finds out in which form a server accepts a Basic secret, before a refresh token can be lost by trying.
///
/// `AuthenticatedPost` tries the raw form after the standard form was refused, because servers authenticate the client
/// before they look at the grant (RFC 6749 §3.2.1). But glewlwyd 2.7.5 accepts only the raw form, and spends the
/// refresh token *before* it authenticates the client: there the second try ends the grant (seen). A made-up token sent
/// to the revocation endpoint costs nothing: a server that accepts the client answers 200 to a token that it does not
/// know (RFC 7009 §2.2).
struct BasicEncodingProbe: Sendable {
    let servers: ServerAccess

    /// Returns `raw` if the server refused the standard form and accepted the raw one; nil if that is not known.
    ///
    /// An accepted standard form proves nothing, because some servers do not authenticate clients at this endpoint.
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
            // An endpoint that hangs must leave enough time for the refresh.
            deadline: servers.configuration.uptime() + servers.configuration.totalTimeout / 4
        )
        let fields = [("token", "rehearsal-" + client.correlationID), ("token_type_hint", "refresh_token")]
        let conclusion = await post.run(fields) { answer, body in
            (200...299).contains(answer.status) && ErrorReading(body.fields).error == nil
        }
        return conclusion.foundEncoding == .raw ? .raw : nil
    }

    /// Finds out in which form the token endpoint accepts Basic credentials, by sending a made-up code. Nil if that was
    /// not necessary or gave no result. The method, the place of `client_id` and the audience of assertions are
    /// remembered.
    ///
    /// A code can be sent only once, so the other forms have to be tried before. A server that accepts the client
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
            // RFC 7636 §4.1 requires at least 43 characters.
            ("code_verifier", madeUp + String(repeating: "-", count: 43)),
        ]
        return await post.run(fields) { _, _ in false }.foundEncoding
    }

    /// Whether the first request would have to choose between two forms without knowing which one is right.
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
