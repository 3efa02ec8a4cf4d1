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

    /// Obtains a token of a service account, with one request. The outcome has the form of a refresh's.
    ///
    /// A refresh token in the answer is ignored. There should be none (RFC 6749 §4.4.3), and the next access token can
    /// be obtained without it.
    @concurrent package func obtain(_ request: ServiceTokenRequest) async -> RefreshOutcome {
        let client = request.client
        if let name = ReservedParameter.first(in: client.registration.refreshParameters) {
            return RefreshOutcome(result: .failure(client.reserved(name)))
        }
        var outcome: GrantOutcome
        do throws(RefreshFailure) {
            let before = await clock(of: client)
            outcome = await obtain(request.request(try await clientGrant(of: request)))
            // The refusal shows that the server's clock differs from the one by which the assertion was made.
            let isClockNew = !OriginMemory.tolerance.contains(await clock(of: client) - before)
            if isClockNew, case .jwtBearer = request.grant, case .failure(let failure) = outcome.result,
                (400...401).contains(failure.detail.httpStatus ?? 0)
            {
                outcome = await obtain(request.request(try await clientGrant(of: request)))
            }
        } catch {
            return RefreshOutcome(result: .failure(error))
        }
        return RefreshOutcome(
            result: outcome.result.map(\.tokens.withoutRefreshToken).mapError { $0.refusing(request.grant) },
            serverDate: outcome.serverDate,
            basicCredentialEncoding: outcome.basicCredentialEncoding
        )
    }

    /// Obtains tokens for the grant in `request`, with one request.
    ///
    /// If a token from an exchange must not be used in an `Authorization` header, its type is `N_A` (RFC 8693 §2.2.1).
    @concurrent package func obtain(_ request: ClientGrantRequest) async -> GrantOutcome {
        let client = request.client
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            // No person signed in. If an ID token comes nevertheless, it is checked, but it is not required.
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

    /// How far the clock of the client's server is ahead of ours, as far as it is known.
    private func clock(of client: RequestingClient) async -> Duration {
        (try? await servers.metadata(for: client)).map { servers.origins.skew(of: $0.tokenEndpoint) } ?? .zero
    }

    private func clientGrant(of request: ServiceTokenRequest) async throws(RefreshFailure) -> ClientGrant {
        switch request.grant {
        case .clientCredentials: return .clientCredentials
        case .jwtBearer(let terms): return .jwtBearer(assertion: try await assertion(terms, for: request))
        case .tokenExchange:
            guard let exchange = request.exchange else {
                throw request.client.misconfigured("the account has no token to exchange")
            }
            return .tokenExchange(exchange)
        }
    }

    /// Signs an assertion by which the client asks for a token (RFC 7523 §3). A new one is made for each request.
    ///
    /// - Throws: `misconfigured` if the account's key cannot sign it; the metadata's failure if the server's metadata
    ///   cannot be fetched.
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
            // RFC 7523 §3 requires a subject. Google's servers accept an assertion without one, which then is for the
            // service account itself, and Google's own libraries send none.
            let isNamedByKey = key.clientID == registration.clientID
            return try ClientAssertion.assertion(
                issuer: registration.clientID,
                subject: terms.subject ?? (isNamedByKey ? nil : registration.clientID),
                // §3: the token endpoint's URL may be the audience, and most servers (Google) expect it.
                audience: terms.audience ?? (isForIssuer ? metadata.issuer.url : metadata.tokenEndpoint.url),
                // The scopes are in the request, too (RFC 7521 §4.1). Google and DocuSign read them only here.
                claims: request.scopes.isEmpty ? [:] : ["scope": request.scopes.joined(separator: " ")],
                lifetime: terms.lifetime ?? ClientAssertion.lifetime,
                signer: TokenSigner(key: key, keyID: registration.clientKeyID, offered: nil),
                now: servers.configuration.now() + servers.origins.skew(of: metadata.tokenEndpoint),
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
                flaw: issuance.flaw
            ),
            scopes: scopes,
            idToken: nil
        )
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
