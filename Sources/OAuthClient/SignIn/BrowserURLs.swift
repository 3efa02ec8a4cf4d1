internal import JOSE
package import RefreshCore

/// Where a person's browser is sent: to sign in, and to end the session at the server.
package struct BrowserURLs: Sendable {
    let servers: ServerAccess

    /// Where to send the person's browser: the server's authorization endpoint, with the request in its query or pushed to the
    /// server beforehand (RFC 9126).
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
                throw client.misconfigured(ReservedParameter.summary, detail: name)
            }
            let metadata = try await servers.metadata(for: client)
            guard let endpoint = metadata.endpoints.authorization else {
                throw client.misconfigured("the server has no authorization endpoint, so nobody can sign in by browser")
            }
            request.scopes = client.scopes(request.scopes, offeredBy: metadata)
            let offersChoice = metadata.promptValues?.contains(Self.choice) ?? true
            if request.choosesPerson, request.prompt == nil, offersChoice { request.prompt = Self.choice }
            var parameters = AuthorizationParameters(request: request).all
            let name = (name: "client_id", value: client.registration.clientID)
            // OpenID Connect Core §6.1 wants to see these two in the address as well, and so do some servers of a pushed request. Others
            // pass over what stands beside it (RFC 9101 §5).
            let frame = parameters.filter { ["response_type", "scope"].contains($0.name) }
            let isSigned = metadata.requiresSignedRequestObjects
            if isSigned {
                parameters = [name, ("request", try requestObject(of: parameters, by: client, metadata).reveal())]
            }
            let pushed = try await push(parameters, of: request, metadata)
            let sent = pushed.map { [name, ("request_uri", $0.uri)] + frame } ?? parameters + (isSigned ? frame : [])
            return .success(
                AuthorizationURL(
                    url: endpoint.url(adding: sent),
                    host: endpoint.host,
                    expiresIn: pushed?.expiresIn,
                    requiresIssuer: client.profile?.signIn.callbackIssuer.map { $0 == .required }
                        ?? metadata.namesIssuerInResponses,
                    issuer: client.issuer.url,
                    checksCodeChallenge: Self.checksCodeChallenge(client.profile, metadata)
                )
            )
        } catch {
            return .failure(error)
        }
    }

    /// Where to send the person's browser to end the session at the server; nil if the server has no such place.
    @concurrent package func endSessionURL(
        for request: EndSessionRequest
    ) async -> Result<EndSessionURL?, RefreshFailure> {
        do throws(RefreshFailure) {
            guard let endpoint = try await servers.metadata(for: request.client).endpoints.endSession else {
                return .success(nil)
            }
            var fields = [(name: "client_id", value: request.client.registration.clientID)]
            let ownParameter = request.client.profile?.endSessionRedirectParameter
            // Whoever has a name of its own for the one parameter does not know the other.
            if ownParameter == nil, let token = request.idTokenHint { fields.append(("id_token_hint", token.reveal())) }
            if let uri = request.postLogoutRedirectURI {
                fields.append((ownParameter ?? "post_logout_redirect_uri", uri))
                if let state = request.state { fields.append(("state", state.reveal())) }
            }
            return .success(EndSessionURL(url: endpoint.url(adding: fields), host: endpoint.host))
        } catch {
            return .failure(error)
        }
    }

    /// The prompt by which people choose who signs in (OpenID Connect Core §3.1.2.1).
    private static let choice = "select_account"

    /// Whether the server checks code challenges (RFC 7636 §4.6), by what it publishes or by what its profile says.
    ///
    /// A server that publishes no methods, as Entra, may check them or ignore them (RFC 8414 §2).
    private static func checksCodeChallenge(_ profile: ProviderProfile?, _ metadata: AuthorizationServerMetadata)
        -> Bool
    {
        if let pkce = profile?.signIn.pkce { return pkce == .s256 }
        return metadata.codeChallengeMethods?.contains("S256") == true
    }

    /// What a server makes of a pushed request.
    private struct PushedRequest {
        let uri: String
        let expiresIn: Duration
    }

    /// Nil if the request goes into the query.
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
                throw request.client.misconfigured("the server requires pushed requests, but publishes no endpoint")
            }
            return nil
        }
        // A client that proves itself gains by pushing; for a public one it changes little.
        let method = ClientCredentials.method(
            request.client.registration,
            profile: request.client.profile,
            offered: metadata.tokenEndpointAuthenticationMethods
        )
        guard isRequired || method != .none else { return nil }
        let conclusion = await servers.post(from: request.client, to: endpoint, metadata).run(parameters) {
            answer,
            body in
            (200...299).contains(answer.status) && Self.pushedRequest(in: body) != nil
        }
        if conclusion.row == nil, let body = conclusion.body { return Self.pushedRequest(in: body) }
        let secrets = [request.state, request.codeVerifier] + (request.nonce.map { [$0] } ?? [])
        let failure = request.client.failure(conclusion, hiding: secrets, now: servers.configuration.now())
        // Some servers publish the endpoint and keep it for chosen clients. What is wrong with the request itself, the browser
        // will show; a client that is not known will not get tokens either.
        let isOwnFault = failure.detail.oauthError == "invalid_client"
        let isRefusal = failure.detail.httpStatus.map { (400...499).contains($0) && $0 != 429 } ?? false
        guard !isRequired, isRefusal, !isOwnFault else { throw failure }
        return nil
    }

    /// RFC 9126 §2.2.
    private static func pushedRequest(in body: AnswerBody) -> PushedRequest? {
        guard let uri = body.fields["request_uri"]?.text, uri.isWord, uri.utf8.count <= 2048 else { return nil }
        // §2.2 wants 5 to 600 s: a server that does not say gets what is shortest.
        let seconds = body.fields["expires_in"]?.seconds ?? 5
        return PushedRequest(uri: uri, expiresIn: .seconds(Int64(min(max(seconds, 1), 600))))
    }

    /// An authorization request as one signed token (RFC 9101), for a server that takes nothing else.
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
            return try RequestObject.make(
                parameters,
                clientID: client.registration.clientID,
                audience: metadata.issuer.url,
                signer: signer,
                now: servers.configuration.now(),
                random: AuthenticatedPost.newIdentifier()
            )
        } catch {
            throw client.misconfigured("the authorization request cannot be signed: \(error.summary)")
        }
    }
}

/// What it takes to end a person's session at the server (OpenID Connect RP-Initiated Logout §2).
package struct EndSessionRequest: Sendable {
    package var client: RequestingClient
    /// The last id_token of the grant; with it the server need not ask the person.
    package var idTokenHint: Secret?
    /// Where the browser goes afterwards; must be registered.
    package var postLogoutRedirectURI: String?
    /// Comes back with that; sent together with it only.
    package var state: Secret?

    package init(
        client: RequestingClient,
        idTokenHint: Secret? = nil,
        postLogoutRedirectURI: String? = nil,
        state: Secret? = nil
    ) {
        self.client = client
        self.idTokenHint = idTokenHint
        self.postLogoutRedirectURI = postLogoutRedirectURI
        self.state = state
    }
}

/// Where a person's browser has to go to sign out.
package struct EndSessionURL: Hashable, Sendable {
    /// Holds the id_token: to be shown to the account's owner only.
    package let url: String
    /// The host that the browser will show.
    package let host: String
}
