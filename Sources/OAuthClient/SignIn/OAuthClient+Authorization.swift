package import RefreshCore
internal import TextEncodings

extension OAuthClient {
    /// Where to send the person's browser: the server's authorization endpoint, with the request in its query or pushed to the
    /// server beforehand (RFC 9126).
    @concurrent package func authorizationURL(
        for request: AuthorizationRequest
    ) async -> Result<AuthorizationURL, RefreshFailure> {
        do throws(RefreshFailure) {
            let client = request.client
            if let name = ReservedParameter.first(
                in: client.registration.authorizationParameters,
                among: ReservedParameter.authorizationNames
            ) {
                throw client.misconfigured(ReservedParameter.summary, detail: name)
            }
            let metadata = try await metadata(for: client)
            guard let endpoint = metadata.endpoints.authorization else {
                throw client.misconfigured("the server has no authorization endpoint: it signs nobody in by a browser")
            }
            var parameters = AuthorizationParameters(request: request).all
            let name = (name: "client_id", value: client.registration.clientID)
            var frame: [(name: String, value: String)] = []
            if metadata.requiresSignedRequestObjects {
                // OpenID Connect Core §6.1 wants to see these two in the address as well.
                frame = parameters.filter { ["response_type", "scope"].contains($0.name) }
                parameters = [name, ("request", try requestObject(of: parameters, by: client, metadata).reveal())]
            }
            let pushed = try await push(parameters, of: request, metadata)
            let sent = pushed.map { [name, ("request_uri", $0.uri)] } ?? parameters + frame
            return .success(
                AuthorizationURL(
                    url: endpoint.url(adding: sent),
                    host: endpoint.host,
                    expiresIn: pushed?.expiresIn,
                    requiresIssuer: metadata.namesIssuerInResponses,
                    issuer: client.issuer.url
                )
            )
        } catch {
            return .failure(error)
        }
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
        let isRequired = metadata.requiresPushedAuthorizationRequests
        guard let endpoint = metadata.endpoints.pushedAuthorizationRequest else {
            guard !isRequired else {
                throw request.client.misconfigured("the server takes pushed requests only, and says not where")
            }
            return nil
        }
        // A client that proves itself gains by pushing; for a public one it changes little.
        let method = authenticationMethod(
            of: request.client.registration,
            profile: request.client.profile,
            offered: metadata.tokenEndpointAuthenticationMethods
        )
        guard isRequired || method != .none else { return nil }
        let conclusion = await post(from: request.client, to: endpoint, metadata).run(parameters) { answer, body in
            (200...299).contains(answer.status) && Self.pushedRequest(in: body) != nil
        }
        if conclusion.row == nil, let body = conclusion.body { return Self.pushedRequest(in: body) }
        let secrets = [request.state, request.codeVerifier] + (request.nonce.map { [$0] } ?? [])
        let failure = request.client.failure(conclusion, hiding: secrets, now: configuration.now())
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
}

extension Endpoint {
    /// The URL with `parameters` behind the query that it has (RFC 6749 §3.1).
    func url(adding parameters: [(name: String, value: String)]) -> String {
        let query = String(decoding: FormEncoding.body(parameters), as: UTF8.self)
        guard let mark = url.firstIndex(of: "?") else { return url + "?" + query }
        let isOpen = url.index(after: mark) == url.endIndex || url.hasSuffix("&")
        return url + (isOpen ? "" : "&") + query
    }
}
