package import OAuthMessages
package import RefreshCore

/// Makes the addresses for a person's browser: for signing in, and for ending the session at the server.
package struct BrowserURLs: Sendable {
    let servers: ServerAccess

    /// The address for signing in: the server's authorization endpoint. The request is in its query, or is pushed to
    /// the server beforehand (RFC 9126).
    @concurrent package func authorizationURL(
        for request: AuthorizationRequest
    ) async -> Result<AuthorizationURL, RefreshFailure> {
        do throws(RefreshFailure) {
            var request = request
            let client = request.client
            if let name = ReservedParameter.first(
                in: client.registration.authorizationParameters,
                among: ReservedParameter.authorizationNames
            ) {
                throw client.reserved(name)
            }
            let metadata = try await servers.metadata(for: client)
            guard let endpoint = metadata.endpoints.authorization else {
                throw client.lacking(
                    "authorization_endpoint",
                    "the server has no authorization endpoint, so nobody can sign in by browser",
                    in: metadata
                )
            }
            request.scopes = client.scopes(request.scopes, offeredBy: metadata)
            let offersChoice = metadata.promptValues?.contains(Self.choice) ?? true
            if request.choosesPerson, request.prompt == nil, offersChoice { request.prompt = Self.choice }
            let knowsConsent = metadata.promptValues?.contains(RequestingClient.consent) ?? true
            if !knowsConsent { request.needsNoConsent = true }
            var parameters = request.parameters
            let name = (name: "client_id", value: client.registration.clientID)
            // OpenID Connect Core §6.1 requires these two in the address, too, and some servers require them, and the
            // redirect URI, beside a pushed request. Other servers read only the request object (RFC 9101 §5).
            let frame = parameters.filter { ["response_type", "scope"].contains($0.name) }
            let place = (name: "redirect_uri", value: request.redirectURI)
            let isSigned = metadata.requiresSignedRequestObjects
            if isSigned {
                parameters = [name, ("request", try requestObject(of: parameters, by: client, metadata).reveal())]
            }
            let pushed = try await push(parameters, of: request, metadata)
            let sent =
                pushed.map { [name, ("request_uri", $0.uri), place] + frame } ?? parameters + (isSigned ? frame : [])
            return .success(
                AuthorizationURL(
                    url: endpoint.url(adding: sent),
                    host: endpoint.host,
                    expiresIn: pushed?.expiresIn,
                    requiresIssuer: client.profile?.signIn.callbackIssuer.map { $0 == .required }
                        ?? metadata.namesIssuerInResponses,
                    issuer: client.issuer.url,
                    checksCodeChallenge: Self.checksCodeChallenge(client.profile, metadata),
                    asksForConsent: request.asksForConsent,
                    givesNoRefreshToken: Self.givesNoRefreshToken(metadata)
                )
            )
        } catch {
            return .failure(error)
        }
    }

    /// The address for ending the person's session at the server (OpenID Connect RP-Initiated Logout §2); nil if the
    /// server has no such endpoint.
    ///
    /// - Parameters:
    ///   - idTokenHint: the last ID token of the grant. With it, the server need not ask the person.
    ///   - redirectURI: where the browser goes afterwards. It must be registered at the server.
    ///   - state: a value that comes back with the redirect. Sent only together with `redirectURI`.
    @concurrent package func endSessionURL(
        of client: RequestingClient,
        idTokenHint: Secret? = nil,
        redirectURI: String? = nil,
        state: Secret? = nil
    ) async -> Result<EndSessionURL?, RefreshFailure> {
        do throws(RefreshFailure) {
            guard let endpoint = try await servers.metadata(for: client).endpoints.endSession else {
                return .success(nil)
            }
            var fields = [(name: "client_id", value: client.registration.clientID)]
            let ownParameter = client.profile?.endSessionRedirectParameter
            // A provider with a parameter of its own for the redirect does not know `id_token_hint`.
            if ownParameter == nil, let idTokenHint { fields.append(("id_token_hint", idTokenHint.reveal())) }
            if let redirectURI {
                fields.append((ownParameter ?? "post_logout_redirect_uri", redirectURI))
                if let state { fields.append(("state", state.reveal())) }
            }
            return .success(EndSessionURL(url: endpoint.url(adding: fields), host: endpoint.host))
        } catch {
            return .failure(error)
        }
    }

    /// The value of `prompt` that lets people choose who signs in (OpenID Connect Core §3.1.2.1).
    private static let choice = "select_account"

    /// Whether the server certainly checks code challenges (RFC 7636 §4.6), according to its metadata or its profile.
    ///
    /// A server that publishes no methods, such as Entra, may check or ignore them (RFC 8414 §2).
    private static func checksCodeChallenge(_ profile: ProviderProfile?, _ metadata: AuthorizationServerMetadata)
        -> Bool
    {
        if let pkce = profile?.signIn.pkce { return pkce == .s256 }
        return metadata.codeChallengeMethods?.contains("S256") == true
    }

    /// Whether the server certainly gives no refresh tokens. Many servers that do give them forget `refresh_token` among
    /// their grant types.
    private static func givesNoRefreshToken(_ metadata: AuthorizationServerMetadata) -> Bool {
        metadata.grantTypes?.contains("refresh_token") == false
            && metadata.scopes?.contains(TokenTarget.offlineAccess) == false
    }

    /// The server's answer to a pushed request.
    private typealias PushedRequest = (uri: String, expiresIn: Duration)

    /// Pushes the request. Returns nil if the request goes into the query instead.
    private func push(
        _ parameters: [(name: String, value: String)],
        of request: AuthorizationRequest,
        _ metadata: AuthorizationServerMetadata
    ) async throws(RefreshFailure) -> PushedRequest? {
        let usage = request.client.profile?.signIn.pushedRequests ?? .usual
        guard usage != .never else { return nil }
        let isRequired = metadata.requiresPushedAuthorizationRequests || usage == .always
        guard let endpoint = metadata.endpoints.pushedAuthorizationRequest else {
            guard !isRequired else {
                let name = "pushed_authorization_request_endpoint"
                throw request.client.lacking(
                    name,
                    "the server requires pushed requests, but publishes no endpoint for them",
                    in: metadata
                )
            }
            return nil
        }
        // Pushing is useful for a client that authenticates. For a public client it makes little difference.
        let method = ClientCredentials.method(
            request.client.registration,
            profile: request.client.profile,
            offered: metadata.tokenEndpointAuthenticationMethods
        )
        guard isRequired || method != .none else { return nil }
        var post = servers.post(from: request.client, to: endpoint, metadata)
        post.role = .pushedRequest
        let conclusion = await post.run(parameters) { answer, body in
            (200...299).contains(answer.status) && body.holdsAnswer
        }
        if conclusion.row == nil, let body = conclusion.body {
            if let pushed = Self.pushedRequest(in: body) { return pushed }
            throw request.client.unusable("request_uri", inAnswerOf: .pushedRequest)
        }
        let secrets = [request.state, request.codeVerifier] + (request.nonce.map { [$0] } ?? [])
        let failure = request.client.failure(conclusion, hiding: secrets, now: servers.configuration.now())
        // Some servers publish the endpoint, but only some clients may use it. So after a refusal, the request goes
        // into the address. If the request itself is wrong, the browser will show that. If the server does not know the
        // client, the client will not get tokens either.
        let isOwnFault = failure.detail.oauthError == "invalid_client"
        let isRefusal = failure.detail.httpStatus.map { (400...499).contains($0) && $0 != 429 } ?? false
        guard !isRequired, isRefusal, !isOwnFault else { throw failure }
        return nil
    }

    /// Reads the answer of RFC 9126 §2.2.
    private static func pushedRequest(in body: AnswerBody) -> PushedRequest? {
        guard let uri = body.fields["request_uri"]?.text, uri.isWord, uri.utf8.count <= 2048 else { return nil }
        // §2.2 recommends 5 to 600 s. If the server does not say, take the shortest.
        let seconds = body.fields["expires_in"]?.seconds ?? 5
        return (uri, .seconds(Int64(min(max(seconds, 1), 600))))
    }

    /// The authorization request as one signed token (RFC 9101), for a server that accepts nothing else.
    ///
    /// - Throws: `misconfigured` if the account has no key that can sign it.
    private func requestObject(
        of parameters: [(name: String, value: String)],
        by client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) throws(RefreshFailure) -> Secret {
        guard let key = client.registration.clientKey else {
            throw client.misconfigured(
                "the server requires signed authorization requests, but the account has no client key"
            )
        }
        do throws(JOSEError) {
            let signer = try TokenSigner(
                key: PrivateKey(key),
                keyID: client.registration.clientKeyID,
                offered: metadata.requestObjectSigningAlgorithms
            )
            return try signer.requestObject(
                parameters,
                clientID: client.registration.clientID,
                audience: metadata.issuer.url,
                now: servers.configuration.now() + servers.origins.skew(of: metadata.tokenEndpoint)
            )
        } catch {
            throw client.misconfigured("the authorization request cannot be signed: \(error.summary)")
        }
    }
}

/// The address for a person's browser, and what the answer must look like.
package struct AuthorizationURL: Sendable {
    /// The URL. It contains `state`, so show it only to the account's owner.
    package let url: String
    /// The host that the browser will show, which is that of the authorization endpoint.
    package let host: String
    /// How long the server keeps a pushed request; nil if the request was not pushed.
    package let expiresIn: Duration?
    /// Whether the answer must name its issuer (RFC 9207 §2.4).
    package let requiresIssuer: Bool
    /// The value that `iss` in the answer must have, byte for byte, if it is present.
    package let issuer: String
    /// Whether the server certainly refuses a code of another request: a code challenge is sent, and the server checks
    /// it.
    package let checksCodeChallenge: Bool
    /// Whether the person is asked for consent.
    package var asksForConsent = false
    /// Whether the server's metadata rules out refresh tokens.
    package var givesNoRefreshToken = false
}

/// The address where a person's browser signs out.
package struct EndSessionURL: Hashable, Sendable {
    /// The URL. It contains the ID token, so show it only to the account's owner.
    package let url: String
    /// The host that the browser will show.
    package let host: String
}
