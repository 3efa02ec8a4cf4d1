internal import JOSE
package import RefreshCore

/// What it takes to obtain a token of a service account.
package struct ServiceTokenRequest: Sendable {
    package var client: RequestingClient
    package var grant: ServiceGrant
    /// What is asked for; nil for the account's default access token.
    package var target: TokenTarget?
    /// The tokens of other accounts that are exchanged; nil for grants that need none.
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

    /// The profile's scopes are not asked for: they are what a person signs in for.
    fileprivate var scopes: [String] {
        let asked = target?.scopes ?? []
        return asked.isEmpty ? client.registration.scopes : asked
    }

    fileprivate func request(_ grant: ClientGrant) -> ClientGrantRequest {
        var request = ClientGrantRequest(client: client, grant: grant, scopes: scopes)
        request.resources = target?.resources ?? []
        request.audience = target?.audience
        request.claims = target?.claims
        request.parameters = client.registration.refreshParameters
        return request
    }
}

/// Obtains tokens by grants that need no person at a browser.
package struct ClientGrants: Sendable {
    let servers: ServerAccess
    let tokens: TokenEndpoint

    /// The name under which the answer's `issued_token_type` (RFC 8693 §2.2.1) is kept.
    package static let issuedTokenType = "issued_token_type"

    /// Obtains a token of a service account, once; what came of it is told as of a refresh.
    ///
    /// A refresh token that comes with it is left out (RFC 6749 §4.4.3: there should be none): another token is had without.
    @concurrent package func obtain(_ request: ServiceTokenRequest) async -> RefreshOutcome {
        let client = request.client
        if let name = ReservedParameter.first(in: client.registration.refreshParameters) {
            return RefreshOutcome(result: .failure(client.misconfigured(ReservedParameter.summary, detail: name)))
        }
        let grant: ClientGrant
        do throws(RefreshFailure) {
            grant = try await clientGrant(of: request)
        } catch {
            return RefreshOutcome(result: .failure(error))
        }
        let outcome = await obtain(request.request(grant))
        return RefreshOutcome(
            result: outcome.result.map(\.tokens.withoutRefreshToken).mapError { $0.refusing(request.grant) },
            serverDate: outcome.serverDate,
            basicCredentialEncoding: outcome.basicCredentialEncoding
        )
    }

    /// Exchanges what the client holds for tokens, once.
    ///
    /// An exchanged token may be good for no `Authorization` header: its type is `N_A` then (RFC 8693 §2.2.1).
    @concurrent package func obtain(_ request: ClientGrantRequest) async -> GrantOutcome {
        let client = request.client
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            // No person signed in: an id_token that comes nevertheless is checked, and not waited for.
            let check = IDTokenCheck(client, IDTokenCheck.Binding(scopes: []), metadata, cache: servers.keySets)
            let grant = TokenEndpoint.GrantRequest(
                fields: request.fields,
                secrets: request.secrets,
                keptFields: [Self.issuedTokenType],
                namesClient: request.grant.namesClient
            )
            return await tokens.obtain(grant, as: client, metadata, check)
        } catch {
            return GrantOutcome(result: .failure(error))
        }
    }

    private func clientGrant(of request: ServiceTokenRequest) async throws(RefreshFailure) -> ClientGrant {
        switch request.grant {
        case .clientCredentials: return .clientCredentials
        case .jwtBearer(let terms): return .jwtBearer(assertion: try await assertion(terms, for: request))
        case .tokenExchange:
            guard let exchange = request.exchange else {
                throw request.client.misconfigured("there is no token to exchange")
            }
            return .tokenExchange(exchange)
        }
    }

    /// Signs that the client wants a token (RFC 7523 §3), anew for each request.
    ///
    /// - Throws: `misconfigured` if the account's key cannot sign it; what keeps the server's metadata away.
    private func assertion(
        _ terms: AssertionTerms,
        for request: ServiceTokenRequest
    ) async throws(RefreshFailure) -> Secret {
        let (client, registration) = (request.client, request.client.registration)
        let metadata = try await servers.metadata(for: client)
        let isForIssuer = client.profile?.assertionAudience == .issuer
        do throws(JOSEError) {
            guard let text = registration.clientKey else { throw .keyMalformed }
            let key = try PrivateKey(text)
            // RFC 7523 §3 wants a subject. Google's servers, and its own libraries, take none for the service account itself.
            let isNamedByKey = key.clientID == registration.clientID
            return try ClientAssertion.assertion(
                issuer: registration.clientID,
                subject: terms.subject ?? (isNamedByKey ? nil : registration.clientID),
                // §3: the token endpoint's URL may be used, and is what most servers (Google) look for.
                audience: terms.audience ?? (isForIssuer ? metadata.issuer.url : metadata.tokenEndpoint.url),
                // In the request as well (RFC 7521 §4.1); Google and DocuSign read it here only.
                claims: request.scopes.isEmpty ? [:] : ["scope": request.scopes.joined(separator: " ")],
                lifetime: terms.lifetime ?? ClientAssertion.lifetime,
                signer: TokenSigner(key: key, keyID: registration.clientKeyID, offered: nil),
                now: servers.configuration.now() + servers.cache.origins.skew(of: metadata.tokenEndpoint),
                random: AuthenticatedPost.newIdentifier()
            )
        } catch {
            throw client.misconfigured("the client's assertion cannot be signed: \(error.summary)")
        }
    }
}

extension TokenResponse {
    fileprivate var withoutRefreshToken: TokenResponse {
        TokenResponse(
            accessToken: accessToken,
            refreshToken: nil,
            issuance: Issuance(
                lifetime: issuance.lifetime,
                lifetimeBasis: issuance.lifetimeBasis,
                refreshIn: issuance.refreshIn,
                isUnbound: issuance.isUnbound
            ),
            scopes: scopes,
            idToken: nil
        )
    }
}

extension RefreshFailure {
    /// What servers say of a person's grant means the client's registration where there is no person.
    fileprivate func refusing(_ grant: ServiceGrant) -> RefreshFailure {
        guard failureClass.isAboutGrant else { return self }
        var failure = self
        failure.failureClass = .misconfigured
        failure.detail.summary =
            switch grant {
            case .clientCredentials: "the server gives this client no token"
            case .jwtBearer: "the server does not accept the client's assertion"
            case .tokenExchange: "the server does not exchange the token that this one is derived from"
            }
        return failure
    }
}
