package import RefreshCore

/// What it takes to obtain a token of a service account.
package struct ServiceTokenRequest: Sendable {
    package var client: RequestingClient
    package var grant: ServiceGrant
    /// What is asked for; nil for the account's default access token.
    package var tokenSet: TokenSet?

    package init(client: RequestingClient, grant: ServiceGrant, tokenSet: TokenSet? = nil) {
        self.client = client
        self.grant = grant
        self.tokenSet = tokenSet
    }

    /// The profile's scopes are not asked for: they are what a person signs in for.
    fileprivate var clientGrantRequest: ClientGrantRequest {
        let registration = client.registration
        let scopes = tokenSet?.scopes ?? []
        let clientGrant: ClientGrant =
            switch grant {
            case .clientCredentials: .clientCredentials
            }
        var request = ClientGrantRequest(
            client: client,
            grant: clientGrant,
            scopes: scopes.isEmpty ? registration.scopes : scopes
        )
        request.resources = tokenSet?.resources ?? []
        request.audience = tokenSet?.audience
        request.parameters = registration.refreshParameters
        return request
    }
}

extension OAuthClient {
    /// Obtains a token of a service account, once; what came of it is told as of a refresh.
    ///
    /// A refresh token that comes with it is left out (RFC 6749 §4.4.3: there should be none): another token is had without.
    @concurrent package func obtain(_ request: ServiceTokenRequest) async -> RefreshOutcome {
        let client = request.client
        if let name = ReservedParameter.first(in: client.registration.refreshParameters) {
            return RefreshOutcome(result: .failure(client.misconfigured(ReservedParameter.summary, detail: name)))
        }
        let outcome = await obtain(request.clientGrantRequest)
        return RefreshOutcome(
            result: outcome.result.map(\.tokens.withoutRefreshToken).mapError(\.ofServiceAccount),
            serverDate: outcome.serverDate,
            basicCredentialEncoding: outcome.basicCredentialEncoding
        )
    }
}

extension TokenResponse {
    fileprivate var withoutRefreshToken: TokenResponse {
        TokenResponse(
            accessToken: accessToken,
            refreshToken: nil,
            issuance: Issuance(lifetime: issuance.lifetime, refreshIn: issuance.refreshIn),
            scopes: scopes,
            idToken: nil
        )
    }
}

extension RefreshFailure {
    /// What servers say of a person's grant means the client's registration where there is no person.
    fileprivate var ofServiceAccount: RefreshFailure {
        switch failureClass {
        case .unreachable, .unanswered, .unavailable, .misconfigured:
            return self
        case .rejected, .grantEnded, .userRequired:
            var failure = self
            failure.failureClass = .misconfigured
            failure.detail.summary = "the server gives this client no token of its own"
            return failure
        }
    }
}
