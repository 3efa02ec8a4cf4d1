package import OAuthMessages
package import RefreshCore

/// The input of one refresh (RFC 6749 §6).
package struct RefreshRequest: Sendable {
    package var client: RequestingClient
    package var refreshToken: RefreshToken
    /// The token to ask for; nil for the account's default access token.
    package var target: TokenTarget?
    /// The whole scope of the grant, for a server that requires it in the request; nil to name none. Only without a
    /// token target.
    package var scopes: [String]?
    /// The claims that a resource server wants in the token: a JSON object (OpenID Connect Core §5.5, Entra). Nil sends
    /// none.
    package var claims: String?
    /// Whether the server has answered a refresh or sign-in of this account with tokens before, with the same
    /// registration.
    ///
    /// If it has, and now answers `invalid_request`, it means the token, not the form of the request.
    package var hasWorkedBefore: Bool
    /// The subject of the grant, from the ID token of the sign-in. An ID token in the answer is compared with it. Nil
    /// if it is not known.
    package var subject: String?
    /// Whether the server may replace the refresh token. A late answer is then worth waiting for.
    package var mayRotate: Bool
    /// How long the server still accepts a refresh token that it has replaced; nil if that is not known.
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

/// The result of one refresh.
package struct RefreshOutcome: Sendable {
    package internal(set) var result: Result<TokenResponse, RefreshFailure>
    /// The server's clock (`Date`) at the time of the answer; nil if the answer has none.
    package internal(set) var serverDate: Timestamp?
    /// The form in which this server accepts Basic credentials, if this refresh found it out. To be stored.
    package internal(set) var basicCredentialEncoding: BasicCredentialEncoding?
    /// What is wrong with the ID token of the answer; nil if nothing is. A wrong ID token is left out of the result.
    /// The tokens are kept anyway: the old ones may be spent, and the server that issued these also issued the
    /// wrong ID token.
    package internal(set) var idTokenFault: String?
    /// The person whom the answer's ID token names; nil if it names nobody.
    package internal(set) var person: SignedInPerson?
    /// The claims that the next sign-in of the person should ask for, a JSON object (Entra's `claims`); nil if the
    /// server wants none.
    package internal(set) var demandedClaims: String?

    package init(result: Result<TokenResponse, RefreshFailure>) {
        self.result = result
    }
}

extension RefreshRequest {
    /// Compares the ID token that came with `tokens` with the subject of the grant (OpenID Connect Core §12.2), and drops
    /// one that does not belong to it.
    ///
    /// - Returns: the person whom it names, and what is wrong with it; nil for what does not apply.
    func compareIDToken(of tokens: inout TokenResponse) -> (person: SignedInPerson?, fault: String?) {
        guard let token = tokens.idToken, client.profile?.signIn.idToken != .ignored else { return (nil, nil) }
        do throws(JOSEError) {
            let claims = try IDTokenValidation(client).continued(token, subject: nil)
            let person = SignedInPerson(claims)
            guard let subject else { return (person, nil) }
            guard subject.utf8.elementsEqual(claims.subject.utf8) else {
                tokens.idToken = nil
                tokens.issuance.person = .other(FailureText.clean(person.names?.best ?? claims.subject) ?? "?")
                return (nil, nil)
            }
            tokens.issuance.person = .own
            return (person, nil)
        } catch {
            // Without a known person, nothing depends on the token.
            guard subject != nil else { return (nil, nil) }
            tokens.idToken = nil
            return (nil, error.summary)
        }
    }
}
