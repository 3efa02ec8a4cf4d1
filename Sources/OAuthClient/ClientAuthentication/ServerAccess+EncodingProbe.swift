import OAuthMessages
import RefreshCore

/// Finds out in which form a server accepts a Basic secret, before a refresh token can be lost by trying.
///
/// If the server refuses the standard form, `AuthenticatedPost` tries the raw form, because servers authenticate the
/// client before they look at the grant (RFC 6749 §3.2.1). But glewlwyd 2.7.5 accepts only the raw form, and spends the
/// refresh token *before* it looks at the client. There, the second try ends the grant (seen). So this sends a made-up
/// token to the revocation endpoint, which costs nothing: a server that accepts the client answers 200 to a token that
/// it does not know (RFC 7009 §2.2).
extension ServerAccess {
    /// Returns `raw` if the server refused the standard form and accepted the raw one; otherwise nil.
    ///
    /// If the server accepts the standard form, this proves nothing, because some servers do not authenticate clients
    /// at this endpoint.
    func probedEncoding(
        of client: RequestingClient,
        at metadata: AuthorizationServerMetadata
    ) async -> BasicCredentialEncoding? {
        guard client.basicCredentialEncoding == nil, let endpoint = metadata.revocationEndpoint,
            client.profile?.revocationForm.isStandard ?? true,
            isWorthwhile(client, offered: metadata.tokenEndpointAuthenticationMethods)
        else { return nil }
        var registration = client.registration
        registration.authentication = .clientSecretBasic
        let post = AuthenticatedPost(
            servers: self,
            endpoint: endpoint,
            profile: client.profile,
            registration: registration,
            offeredMethods: nil,
            knownEncoding: nil,
            correlationID: client.correlationID,
            // An endpoint that hangs must leave enough time for the refresh.
            deadline: configuration.uptime() + configuration.totalTimeout / 4
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
    /// A refused refresh may be repeated with another form, but a code is sent only once. So the form must be known
    /// before. A server that knows the client answers `invalid_grant` to a code that it does not know (RFC 6749 §5.2).
    func probedEncoding(
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
        // A stored encoding is open, too. The server may have changed, and with the wrong encoding every code would be
        // spent in vain: nothing would ever correct it.
        let isEncodingOpen = guess.differsByEncoding
        let isOpen =
            switch guess.method {
            case .clientSecretBasic: guess.scheme == .basic && (!isChosen || isEncodingOpen)
            case .clientSecretJWT, .privateKeyJWT:
                client.profile?.assertionAudience == nil && client.registration.clientAssertionFile == nil
            case .none, .clientSecretPost, .tlsClientAuth, .selfSignedTLSClientAuth: false
            }
        guard isOpen else { return nil }
        let place = MetadataCache.ClientAt(endpoint: metadata.tokenEndpoint, clientID: client.registration.clientID)
        let learned = cache.learnedForm(of: place)
        guard isEncodingOpen || learned == nil else { return nil }
        let post = AuthenticatedPost(
            servers: self,
            endpoint: metadata.tokenEndpoint,
            profile: client.profile,
            registration: client.registration,
            offeredMethods: offered,
            knownEncoding: client.basicCredentialEncoding,
            correlationID: client.correlationID,
            deadline: configuration.uptime() + configuration.totalTimeout / 4,
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
