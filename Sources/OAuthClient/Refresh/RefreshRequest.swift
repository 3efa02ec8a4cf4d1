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
    package let result: Result<TokenResponse, RefreshFailure>
    /// The server's clock (`Date`) at the time of the answer; nil if the answer has none.
    package let serverDate: Timestamp?
    /// The form in which this server accepts Basic credentials, if this refresh found it out. To be stored.
    package let basicCredentialEncoding: BasicCredentialEncoding?
    /// What is wrong with the ID token of the answer; nil if nothing is. A wrong ID token is left out of the result.
    /// The tokens are kept anyway: the old ones may be spent, and the server that issued these also issued the
    /// wrong ID token.
    package let idTokenFault: String?
    /// The person whom the answer's ID token names; nil if it names nobody.
    package let person: SignedInPerson?
    /// The claims that the next sign-in of the person should ask for, a JSON object (Entra's `claims`); nil if the
    /// server wants none.
    package let demandedClaims: String?

    package init(
        result: Result<TokenResponse, RefreshFailure>,
        serverDate: Timestamp? = nil,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        idTokenFault: String? = nil,
        person: SignedInPerson? = nil,
        demandedClaims: String? = nil
    ) {
        self.person = person
        self.demandedClaims = demandedClaims
        self.idTokenFault = idTokenFault
        self.result = result
        self.serverDate = serverDate
        self.basicCredentialEncoding = basicCredentialEncoding
    }
}

extension RefreshOutcome {
    /// This outcome with `tokens` in its result.
    func with(_ tokens: TokenResponse) -> RefreshOutcome {
        RefreshOutcome(
            result: .success(tokens),
            serverDate: serverDate,
            basicCredentialEncoding: basicCredentialEncoding,
            idTokenFault: idTokenFault,
            person: person,
            demandedClaims: demandedClaims
        )
    }
}

extension RefreshRequest {
    /// What the ID token of a refresh says (OpenID Connect Core §12.2).
    enum IDTokenReading {
        /// There is none, or it cannot be used to recognize the person.
        case nothing
        /// The account's person.
        case person(SignedInPerson)
        /// Another person than the account's.
        case otherPerson(SignedInPerson)
        /// What is wrong with it.
        case fault(String)
    }

    /// Compares the ID token that came with the refresh with the subject of the grant.
    func reading(of token: Secret?) -> IDTokenReading {
        guard let token, client.profile?.signIn.idToken != .ignored else { return .nothing }
        var validation = IDTokenValidation(issuer: client.issuer, clientID: client.registration.clientID)
        validation.issuerTemplate = client.profile?.issuerTemplate
        validation.issuerAliases = client.profile?.issuerAliases ?? []
        validation.policy = client.profile?.policies.demand
        do throws(JOSEError) {
            let claims = try validation.continued(token, subject: nil)
            let person = SignedInPerson(claims)
            return subject.map { $0.utf8.elementsEqual(claims.subject.utf8) } ?? true
                ? .person(person) : .otherPerson(person)
        } catch {
            // Without a known person, nothing depends on the token.
            return subject == nil ? .nothing : .fault(error.summary)
        }
    }
}
