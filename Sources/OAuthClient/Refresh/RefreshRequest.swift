internal import JOSE
package import OAuthMessages
package import RefreshCore

/// What one refresh needs (RFC 6749 §6).
package struct RefreshRequest: Sendable {
    package var client: RequestingClient
    package var refreshToken: RefreshToken
    /// What is asked for; nil for the account's default access token.
    package var target: TokenTarget?
    /// The whole scope of the grant, where the server has to be told it; nil names none. Only without a token target.
    package var scopes: [String]?
    /// What a resource server wants the token to say: a JSON object (OpenID Connect Core §5.5, Entra). Nil sends nothing.
    package var claims: String?
    /// Whether the server has answered this account with tokens before, with the same registration: to a refresh, or to a sign-in.
    ///
    /// A server that then answers `invalid_request` means the token, not the form of the request.
    package var hasWorkedBefore: Bool
    /// Whose grant it is, by the id_token of the sign-in: an id_token that comes with the refresh is compared with it. Nil if that is
    /// not known.
    package var subject: String?
    /// Whether the server may replace the refresh token: then a late answer is worth waiting for.
    package var mayRotate: Bool
    /// For how long the server still takes a refresh token that it has replaced; nil if that is not known.
    package var rotationGrace: Duration?

    package init(
        client: RequestingClient,
        refreshToken: RefreshToken,
        target: TokenTarget? = nil,
        hasWorkedBefore: Bool = false,
        subject: String? = nil,
        mayRotate: Bool = true,
        rotationGrace: Duration? = nil
    ) {
        self.client = client
        self.refreshToken = refreshToken
        self.target = target
        self.hasWorkedBefore = hasWorkedBefore
        self.subject = subject
        self.mayRotate = mayRotate
        self.rotationGrace = rotationGrace
    }
}

/// What came of one refresh.
package struct RefreshOutcome: Sendable {
    package let result: Result<TokenResponse, RefreshFailure>
    /// The server's clock (`Date`) when it answered; nil if it said nothing.
    package let serverDate: Timestamp?
    /// How Basic credentials have to be written for this server, if this refresh found it out: to be stored.
    package let basicCredentialEncoding: BasicCredentialEncoding?
    /// What is wrong with the id_token of the answer, which is left out of the result then; nil if nothing is. The tokens are good:
    /// the old ones may be spent, and whatever is wrong came from the server that issued these.
    package let idTokenFault: String?
    /// The claims that the server wants the person's sign-in to ask for, a JSON object (Entra's `claims`); nil if it wants none.
    package let demandedClaims: String?

    package init(
        result: Result<TokenResponse, RefreshFailure>,
        serverDate: Timestamp? = nil,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        idTokenFault: String? = nil,
        demandedClaims: String? = nil
    ) {
        self.demandedClaims = demandedClaims
        self.idTokenFault = idTokenFault
        self.result = result
        self.serverDate = serverDate
        self.basicCredentialEncoding = basicCredentialEncoding
    }
}

extension RefreshOutcome {
    /// The same with `tokens`.
    func with(_ tokens: TokenResponse) -> RefreshOutcome {
        RefreshOutcome(
            result: .success(tokens),
            serverDate: serverDate,
            basicCredentialEncoding: basicCredentialEncoding,
            idTokenFault: idTokenFault,
            demandedClaims: demandedClaims
        )
    }
}

extension RefreshRequest {
    /// What is wrong with the id_token that came with the refresh (OpenID Connect Core §12.2); nil if nothing is, or if it is not known
    /// whose it should be.
    func fault(of token: Secret?) -> String? {
        guard let token, let subject else { return nil }
        var validation = IDTokenValidation(issuer: client.issuer, clientID: client.registration.clientID)
        validation.issuerTemplate = client.profile?.issuerTemplate
        validation.issuerAliases = client.profile?.issuerAliases ?? []
        validation.policy = client.profile?.policies.demand
        do throws(JOSEError) {
            _ = try validation.continued(token, subject: subject)
            return nil
        } catch {
            return error.summary
        }
    }
}
