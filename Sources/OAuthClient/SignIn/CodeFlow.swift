package import OAuthMessages
package import RefreshCore

/// Exchanges the codes of sign-ins in a browser for grants, and checks ID tokens that come without a code.
package struct CodeFlow: Sendable {
    let servers: ServerAccess
    let tokens: TokenEndpoint
    let people: PersonLookup

    /// Fetches what is needed to check the answer to a sign-in, so that a fault shows before the person is sent to the
    /// server.
    ///
    /// - Parameter demandsIDToken: whether the answer must have an ID token, whatever the scopes are.
    /// - Returns: why the answer could not be checked; nil if it can.
    @concurrent package func obstacle(
        to client: RequestingClient,
        scopes: [String]?,
        demandsIDToken: Bool
    ) async -> RefreshFailure? {
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            let binding = IDTokenCheck.Binding(
                scopes: client.scopes(scopes, offeredBy: metadata),
                isDemanded: demandsIDToken
            )
            try await IDTokenCheck(client, binding, metadata, cache: servers.keySets).prepare()
            return nil
        } catch {
            return error
        }
    }

    /// Sends the code once and returns the outcome. Each request that it needs has the time limit `totalTimeout`.
    ///
    /// First it fetches the keys that check the ID token, and finds out in which form the server accepts this client's
    /// credentials, because after the code is sent nothing can be tried again. If the ID token is invalid, the tokens
    /// are dropped.
    @concurrent package func exchange(_ request: CodeExchange) async -> GrantOutcome {
        let client = request.client
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            let binding = IDTokenCheck.Binding(
                nonce: request.nonce,
                code: request.code,
                maxAge: request.maxAge,
                scopes: client.scopes(request.scopes, offeredBy: metadata),
                isDemanded: request.demandsIDToken && request.frontIDToken == nil
            )
            var check = IDTokenCheck(client, binding, metadata, cache: servers.keySets)
            try await check.prepare()
            if let token = request.frontIDToken {
                check.frontChannel = CheckedIDToken(
                    token,
                    try await check.claims(ofFrontChannel: token, now: servers.configuration.now())
                )
            }
            let probed = await servers.probedEncoding(
                atTokenEndpointOf: metadata,
                as: client,
                redirectURI: request.redirectURI
            )
            let grant = TokenEndpoint.GrantRequest(
                fields: request.fields,
                secrets: [request.code, request.codeVerifier],
                isSentOnce: true,
                encoding: probed
            )
            let outcome = await tokens.obtain(grant, as: client, metadata, check)
            let encoding = outcome.basicCredentialEncoding ?? probed
            var known = client
            known.basicCredentialEncoding = encoding ?? client.basicCredentialEncoding
            return GrantOutcome(
                result: await completed(outcome.result, of: known, metadata),
                serverDate: outcome.serverDate,
                basicCredentialEncoding: encoding
            )
        } catch {
            return GrantOutcome(result: .failure(error))
        }
    }

    /// Checks the ID token of an authorization request that asked for nothing else (OpenID Connect Core §3.2.2.11).
    ///
    /// - Parameters:
    ///   - nonce: that of the authorization request.
    ///   - maxAge: the maximum age of the authorization request.
    @concurrent package func identify(
        _ idToken: Secret,
        as client: RequestingClient,
        nonce: Secret?,
        maxAge: Duration?
    ) async -> Result<CheckedIDToken, RefreshFailure> {
        do throws(RefreshFailure) {
            let metadata = try await servers.metadata(for: client)
            let binding = IDTokenCheck.Binding(nonce: nonce, maxAge: maxAge, scopes: [], isDemanded: true)
            let check = IDTokenCheck(client, binding, metadata, cache: servers.keySets)
            try await check.prepare()
            let claims = try await check.claims(ofFrontChannel: idToken, now: servers.configuration.now())
            return .success(CheckedIDToken(idToken, claims))
        } catch {
            return .failure(error)
        }
    }

    /// Exchanges the access token of `grant` for tokens that last, if the profile has an `exchange_endpoint`.
    ///
    /// - Throws: why the exchange failed. The code is spent, and the present token could not be refreshed. The person
    ///   has just signed in, and can sign in again more easily now than in an hour.
    private func lasting(
        _ grant: ObtainedGrant,
        of client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async throws(RefreshFailure) -> ObtainedGrant {
        guard let profile = client.profile, let endpoint = profile.exchangeEndpoint,
            let token = grant.tokens.accessToken?.secret
        else { return grant }
        let form = profile.exchangeForm
        var post = servers.post(from: client, to: endpoint, metadata)
        post.method = form.method
        let fields =
            (form.grantType.map { [("grant_type", $0)] } ?? [])
            + [(form.parameter, token.reveal())]
        let conclusion = await post.run(fields) { [decoder = decoder(for: profile, at: servers.configuration.now())] in
            (200...299).contains($0.status) && decoder.takes($1.fields)
        }
        let now = (try? conclusion.answer.get())?.serverDate ?? servers.configuration.now()
        guard conclusion.row == nil, let body = conclusion.body,
            var tokens = decoder(for: profile, at: now).decode(body.fields)
        else {
            throw client.failure(
                conclusion,
                hiding: [token],
                now: servers.configuration.now()
            )
        }
        // Values that only the first answer has are still true.
        tokens.idToken = grant.tokens.idToken
        tokens.scopes = tokens.scopes ?? grant.tokens.scopes
        if tokens.refreshToken == nil, let refreshToken = grant.tokens.refreshToken {
            tokens.refreshToken = refreshToken
            tokens.issuance.isRotated = grant.tokens.issuance.isRotated
            tokens.issuance.refreshTokenLifetime = grant.tokens.issuance.refreshTokenLifetime
        }
        let kept = KeptFields.read(profile.tokenFields, in: body.fields)
        return ObtainedGrant(
            tokens: try client.usable(tokens),
            person: grant.person,
            keptFields: grant.keptFields.merging(kept) { _, new in new },
            askedScopes: grant.askedScopes
        )
    }

    /// The outcome with tokens that last and with the person; a failure is returned unchanged.
    private func completed(
        _ result: Result<ObtainedGrant, RefreshFailure>,
        of client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) async -> Result<ObtainedGrant, RefreshFailure> {
        do throws(RefreshFailure) {
            return .success(
                await people.identified(try await lasting(try result.get(), of: client, metadata), of: client, metadata)
            )
        } catch {
            return .failure(error)
        }
    }

    private func decoder(for profile: ProviderProfile, at now: Timestamp) -> TokenResponseDecoder {
        TokenResponseDecoder(sent: nil, profile: profile, now: now)
    }
}

/// Requests the first tokens of grants of all kinds (RFC 6749 §3.2), and checks the answer.
struct TokenEndpoint: Sendable {
    let servers: ServerAccess
    let introspection: TokenIntrospection

    /// A request for the first tokens of a grant.
    struct GrantRequest {
        var fields: [(name: String, value: String)]
        /// The secrets that must not be shown if the server repeats them in an answer.
        var secrets: [Secret]
        var isSentOnce = false
        /// See `AuthenticatedPost`.
        var namesClient = false
        var encoding: BasicCredentialEncoding?
    }

    func obtain(
        _ request: GrantRequest,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata,
        _ check: IDTokenCheck
    ) async -> GrantOutcome {
        let conclusion = await send(request, as: client, metadata)
        return await conclude(conclusion, of: request, as: client, metadata, check)
    }

    func send(
        _ request: GrantRequest,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata,
        isAnswer: @escaping @Sendable (AnswerBody) -> Bool = { _ in false }
    ) async -> AuthenticatedPost.Conclusion {
        let decoder = TokenResponseDecoder(sent: nil, profile: client.profile, now: servers.configuration.now())
        var post = servers.post(from: client, to: metadata.tokenEndpoint, metadata)
        post.format = client.profile?.bodyFormat ?? .form
        post.isSentOnce = request.isSentOnce
        post.namesClient = request.namesClient
        post.knownEncoding = request.encoding ?? post.knownEncoding
        return await post.run(request.fields) { answer, body in
            (200...299).contains(answer.status) && decoder.takes(body.fields) || isAnswer(body)
        }
    }

    func conclude(
        _ conclusion: AuthenticatedPost.Conclusion,
        of request: GrantRequest,
        as client: RequestingClient,
        _ metadata: AuthorizationServerMetadata,
        _ check: IDTokenCheck
    ) async -> GrantOutcome {
        let now = servers.configuration.now()
        let date = (try? conclusion.answer.get())?.serverDate
        let decoder = TokenResponseDecoder(sent: nil, profile: client.profile, now: date ?? now)
        let outcome = { (result: Result<ObtainedGrant, RefreshFailure>) in
            GrantOutcome(result: result, serverDate: date, basicCredentialEncoding: conclusion.foundEncoding)
        }
        guard conclusion.row == nil, let body = conclusion.body, var tokens = decoder.decode(body.fields) else {
            return outcome(.failure(client.failure(conclusion, hiding: request.secrets, now: now)))
        }
        do throws(RefreshFailure) {
            var claims = try await check.claims(of: tokens, now: now, skew: date.map { $0 - now } ?? .zero)
            if claims == nil { tokens.idToken = nil }
            if let front = check.frontChannel {
                if let claims, claims.subject != front.claims.subject || claims.issuer != front.claims.issuer {
                    throw client.misconfigured(
                        "the ID token with the code and the one from the token endpoint name different people",
                        finding: .badIDToken
                    )
                }
                if claims == nil { (claims, tokens.idToken) = (front.claims, front.token) }
            }
            tokens = try client.usable(tokens)
            if tokens.refreshToken == nil { tokens = await introspection.completed(tokens, of: client, metadata) }
            var kept = KeptFields.read(client.profile?.tokenFields ?? [], in: body.fields)
            kept[KeptFields.details] = KeptFields.details(in: body.fields)
            let person = claims.map { SignedInPerson($0) } ?? SignedInPerson()
            let asked = check.binding.scopes
            return outcome(
                .success(ObtainedGrant(tokens: tokens, person: person, keptFields: kept, askedScopes: asked))
            )
        } catch {
            // The tokens are not revoked. Many servers would then end everything that the person has granted to this
            // client (RFC 7009 §2.1), also the grant with which this account or another one works.
            return outcome(.failure(error))
        }
    }
}

extension RequestingClient {
    /// `tokens` of a new grant, if at least the refresh token can be used. The flaw of an access token is marked.
    ///
    /// - Throws: the flaw of the access token, if there is no refresh token.
    fileprivate func usable(_ tokens: TokenResponse) throws(RefreshFailure) -> TokenResponse {
        let judged = judged(tokens)
        guard judged.refreshToken == nil, var failure = judged.issuance.flaw?.failure else { return judged }
        failure.detail.correlationID = correlationID
        throw failure
    }
}

/// Fields of an answer that are kept with the account.
enum KeptFields {
    /// The longest value that is kept, in bytes. Values are names, numbers and URLs.
    static let valueLimit = 1024

    /// The name of the granted details (RFC 9396 §7).
    static let details = "authorization_details"
    /// The longest text of details that is kept, in bytes. That is enough for a dozen objects.
    private static let detailsLimit = 8192

    /// The granted details; nil if the answer has none, or more than can be shown.
    static func details(in fields: [String: JSONTree]) -> String? {
        guard case .array? = fields[details], let bytes = fields[details]?.bytes, bytes.count <= detailsLimit else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The values in `fields` for those `names` that it has. Dots separate the names of nested objects.
    static func read(_ names: [String], in fields: [String: JSONTree]) -> [String: String] {
        var kept: [String: String] = [:]
        for name in names {
            var value: JSONTree? = .object(fields)
            for step in name.split(separator: ".") { value = value?.member(String(step)) }
            let isPlain = { (text: String) in
                text.utf8.count <= valueLimit && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
            }
            guard let text = value?.word, isPlain(text) else { continue }
            kept[name] = text
        }
        return kept
    }
}
