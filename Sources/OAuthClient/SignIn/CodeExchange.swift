package import OAuthMessages
package import RefreshCore

/// What it takes to turn an authorization code into tokens (RFC 6749 §4.1.3).
package struct CodeExchange: Sendable {
    package var client: RequestingClient
    /// Sent once: a second time would end the grant (RFC 6749 §4.1.2).
    package var code: Secret
    /// As the authorization request had it.
    package var redirectURI: String
    package var codeVerifier: Secret
    /// As the authorization request had it.
    package var nonce: Secret?
    /// Whether there has to be an ID token, whatever the scopes say.
    package var demandsIDToken = false
    /// The ID token that came with the code; nil if only a code was asked for. The code is not sent unless it can be believed.
    package var frontIDToken: Secret?
    /// As the authorization request had it.
    package var maxAge: Duration?
    /// As the authorization request had them; nil for the account's or the profile's.
    package var scopes: [String]?

    package init(
        client: RequestingClient,
        code: Secret,
        redirectURI: String,
        codeVerifier: Secret,
        nonce: Secret? = nil,
        maxAge: Duration? = nil,
        scopes: [String]? = nil
    ) {
        self.client = client
        self.code = code
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
        self.nonce = nonce
        self.maxAge = maxAge
        self.scopes = scopes
    }

    /// The body of RFC 6749 §4.1.3. The one place where a code is revealed.
    var fields: [(name: String, value: String)] {
        let fields =
            [(name: "grant_type", value: "authorization_code"), ("code", code.reveal()), ("redirect_uri", redirectURI)]
            + client.registration.targetFields
        guard client.profile?.signIn.sendsCodeChallenge ?? true else { return fields }
        return fields + [("code_verifier", codeVerifier.reveal())]
    }
}

/// What it takes to believe an ID token that came by way of the browser, without a code.
package struct IdentityCheck: Sendable {
    package var client: RequestingClient
    package var idToken: Secret
    /// As the authorization request had it.
    package var nonce: Secret?
    /// As the authorization request had it.
    package var maxAge: Duration?

    package init(client: RequestingClient, idToken: Secret, nonce: Secret?, maxAge: Duration?) {
        self.client = client
        self.idToken = idToken
        self.nonce = nonce
        self.maxAge = maxAge
    }
}

/// What came of asking for a grant.
package struct GrantOutcome: Sendable {
    package let result: Result<ObtainedGrant, RefreshFailure>
    /// The server's clock (`Date`) when it answered; nil if it said nothing.
    package let serverDate: Timestamp?
    /// How Basic credentials have to be written for this server, if this exchange found it out: to be stored.
    package let basicCredentialEncoding: BasicCredentialEncoding?

    package init(
        result: Result<ObtainedGrant, RefreshFailure>,
        serverDate: Timestamp? = nil,
        basicCredentialEncoding: BasicCredentialEncoding? = nil
    ) {
        self.result = result
        self.serverDate = serverDate
        self.basicCredentialEncoding = basicCredentialEncoding
    }
}

extension GrantOutcome {
    /// The same with `grant`.
    func with(_ grant: ObtainedGrant) -> GrantOutcome {
        GrantOutcome(result: .success(grant), serverDate: serverDate, basicCredentialEncoding: basicCredentialEncoding)
    }
}

/// The first tokens of a grant, and whose it is.
package struct ObtainedGrant: Sendable {
    /// Its id_token was validated, or is nil.
    package let tokens: TokenResponse
    package var person: SignedInPerson
    /// The profile's `token_fields` that the answer has.
    package let keptFields: [String: String]
    /// What the person was asked to grant; empty if that was left to the server.
    package let askedScopes: [String]

    package init(
        tokens: TokenResponse,
        person: SignedInPerson,
        keptFields: [String: String] = [:],
        askedScopes: [String] = []
    ) {
        self.tokens = tokens
        self.person = person
        self.keptFields = keptFields
        self.askedScopes = askedScopes
    }

    /// Whose it is; nil if the server named nobody.
    package var subject: String? { person.subject }
}
