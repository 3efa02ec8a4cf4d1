package import OAuthMessages
package import RefreshCore

/// A request for a token of a service account.
package struct ServiceTokenRequest: Sendable {
    package var client: RequestingClient
    package var grant: ServiceGrant
    /// The token to ask for; nil for the account's default access token.
    package var target: TokenTarget?
    /// The tokens of other accounts to exchange; nil for grants that need none.
    package var exchange: TokenExchange?

    package init(
        client: RequestingClient,
        grant: ServiceGrant,
        target: TokenTarget? = nil,
        exchange: TokenExchange? = nil
    ) {
        self.exchange = exchange
        self.client = client
        self.grant = grant
        self.target = target
    }

    /// The scopes to ask for. The profile's scopes are not among them, because they are meant for sign-ins of people.
    fileprivate var scopes: [String] {
        let asked = target?.scopes ?? []
        return asked.isEmpty ? client.registration.scopes : asked
    }

    /// The fields of the request, after those of the grant itself.
    fileprivate func fields(after grant: [(name: String, value: String)]) -> [(name: String, value: String)] {
        let separator = client.profile?.scopeSeparator ?? " "
        let own =
            grant
            + (scopes.isEmpty ? [] : [("scope", scopes.joined(separator: separator))])
            + (target?.resources ?? []).map { ("resource", $0) }
            + (target?.audience.map { [("audience", $0)] } ?? [])
            + (target?.claims.map { [("claims", $0)] } ?? [])
            // RFC 9396 §6: if no person gives the grant, the token request names the details.
            + (client.registration.authorizationDetails.map { [("authorization_details", $0)] } ?? [])
        let rest = client.registration.refreshParameters.filter { name, _ in !own.contains { $0.name == name } }
        return own + rest.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// The parameters of a token exchange (RFC 8693 §2.1).
package struct TokenExchange: Sendable {
    /// The token of the person or service on whose behalf the request is made.
    package var subjectToken: Secret
    package var subjectTokenType: TokenTypeIdentifier
    /// The token of the acting party; nil if the client acts as itself.
    package var actorToken: Secret?
    /// The type of `actorToken`; sent only with it.
    package var actorTokenType = TokenTypeIdentifier.accessToken
    /// The type of token to ask for; nil leaves it to the server.
    package var requestedTokenType: String?

    package init(subjectToken: Secret, subjectTokenType: TokenTypeIdentifier = .accessToken) {
        self.subjectToken = subjectToken
        self.subjectTokenType = subjectTokenType
    }

    fileprivate var fields: [(name: String, value: String)] {
        var fields = [
            (name: "subject_token", value: subjectToken.reveal()), ("subject_token_type", subjectTokenType.rawValue),
        ]
        if let actorToken {
            fields += [("actor_token", actorToken.reveal()), ("actor_token_type", actorTokenType.rawValue)]
        }
        if let requestedTokenType { fields.append(("requested_token_type", requestedTokenType)) }
        return fields
    }
}

/// Obtains tokens by grants that need no person at a browser.
package struct ClientGrants: Sendable {
    let servers: ServerAccess
    let tokens: TokenEndpoint

    /// Obtains a token of a service account, with one request. The outcome has the form of a refresh's.
    ///
    /// A refresh token in the answer is ignored. There should be none (RFC 6749 §4.4.3), and the next access token can
    /// be obtained without it. If a token from an exchange must not be used in an `Authorization` header, its type is
    /// `N_A` (RFC 8693 §2.2.1).
    @concurrent package func obtain(_ request: ServiceTokenRequest) async -> RefreshOutcome {
        let client = request.client
        if let name = ReservedParameter.first(in: client.registration.refreshParameters) {
            return RefreshOutcome(result: .failure(client.reserved(name)))
        }
        var outcome: GrantOutcome
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            let before = servers.origins.skew(of: metadata.tokenEndpoint)
            outcome = try await ask(request, metadata)
            // The refusal shows that the server's clock differs from the one by which the assertion was made.
            let isClockNew = !OriginMemory.tolerance.contains(
                servers.origins.skew(of: metadata.tokenEndpoint) - before
            )
            if isClockNew, case .jwtBearer = request.grant, case .failure(let failure) = outcome.result,
                (400...401).contains(failure.detail.httpStatus ?? 0)
            {
                outcome = try await ask(request, metadata)
            }
        } catch {
            return RefreshOutcome(result: .failure(error))
        }
        var obtained = RefreshOutcome(
            result: outcome.result.map(\.tokens.withoutRefreshToken).mapError { $0.refusing(request.grant) }
        )
        obtained.serverDate = outcome.serverDate
        obtained.basicCredentialEncoding = outcome.basicCredentialEncoding
        return obtained
    }

    private func ask(
        _ request: ServiceTokenRequest,
        _ metadata: AuthorizationServerMetadata
    ) async throws(RefreshFailure) -> GrantOutcome {
        var own: [(name: String, value: String)] = []
        var secrets: [Secret] = []
        switch request.grant {
        case .clientCredentials: break
        case .jwtBearer(let terms):
            let assertion = try assertion(terms, for: request, metadata)
            (own, secrets) = ([("assertion", assertion.reveal())], [assertion])
        case .tokenExchange:
            guard let exchange = request.exchange else {
                throw request.client.misconfigured("the account has no token to exchange")
            }
            own = exchange.fields
            secrets = [exchange.subjectToken] + (exchange.actorToken.map { [$0] } ?? [])
        }
        // No person signed in. If an ID token comes nevertheless, it is checked, but it is not required.
        let binding = IDTokenCheck.Binding(scopes: [])
        let check = IDTokenCheck(request.client, binding, metadata, cache: servers.keySets)
        let kind = request.grant.kind
        let grant = TokenEndpoint.GrantRequest(
            fields: request.fields(after: [("grant_type", kind.rawValue)] + own),
            secrets: secrets,
            namesClient: kind == .jwtBearer
        )
        return await tokens.obtain(grant, as: request.client, metadata, check)
    }

    /// Signs an assertion by which the client asks for a token (RFC 7523 §3). A new one is made for each request.
    ///
    /// - Throws: `misconfigured` if the account's key cannot sign it.
    private func assertion(
        _ terms: AssertionTerms,
        for request: ServiceTokenRequest,
        _ metadata: AuthorizationServerMetadata
    ) throws(RefreshFailure) -> Secret {
        let (client, registration) = (request.client, request.client.registration)
        let isForIssuer = client.profile?.assertionAudience == .issuer
        do throws(JOSEError) {
            guard let text = registration.clientKey else { throw .keyMalformed }
            let key = try PrivateKey(text)
            // RFC 7523 §3 requires a subject. Google's servers accept an assertion without one, which then is for the
            // service account itself, and Google's own libraries send none.
            let isNamedByKey = key.clientID == registration.clientID
            let signer = try TokenSigner(key: key, keyID: registration.clientKeyID, offered: nil)
            return try signer.assertion(
                issuer: registration.clientID,
                subject: terms.subject ?? (isNamedByKey ? nil : registration.clientID),
                // §3: the token endpoint's URL may be the audience, and most servers (Google) expect it.
                audience: terms.audience ?? (isForIssuer ? metadata.issuer.url : metadata.tokenEndpoint.url),
                // The scopes are in the request, too (RFC 7521 §4.1). Google and DocuSign read them only here.
                claims: request.scopes.isEmpty ? [:] : ["scope": request.scopes.joined(separator: " ")],
                lifetime: terms.lifetime ?? TokenSigner.lifetime,
                now: servers.configuration.now() + servers.origins.skew(of: metadata.tokenEndpoint)
            )
        } catch {
            throw client.misconfigured("the client's assertion cannot be signed: \(error.summary)")
        }
    }
}

extension TokenResponse {
    fileprivate var withoutRefreshToken: TokenResponse {
        var tokens = self
        (tokens.refreshToken, tokens.idToken) = (nil, nil)
        (tokens.issuance.isRotated, tokens.issuance.refreshTokenLifetime) = (false, nil)
        return tokens
    }
}

extension RefreshFailure {
    /// The failure, with a server's words about "the grant" read as words about the client's registration. A service
    /// account has no grant of a person.
    fileprivate func refusing(_ grant: ServiceGrant) -> RefreshFailure {
        guard failureClass.isAboutGrant else { return self }
        var failure = self
        failure.failureClass = .misconfigured
        failure.detail.summary =
            switch grant.kind {
            case .clientCredentials: "the server gives this client no token"
            case .jwtBearer: "the server does not accept the client's assertion"
            case .tokenExchange: "the server does not exchange the token that this one is derived from"
            }
        return failure
    }
}
