package import RefreshCore

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

extension OAuthClient {
    /// Where to send the person's browser to end the session at the server; nil if the server has no such place.
    @concurrent package func endSessionURL(
        for request: EndSessionRequest
    ) async -> Result<EndSessionURL?, RefreshFailure> {
        do throws(RefreshFailure) {
            guard let endpoint = try await metadata(for: request.client).endpoints.endSession else {
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
}
