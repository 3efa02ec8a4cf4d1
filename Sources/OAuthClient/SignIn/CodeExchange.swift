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
        let fields = [
            (name: "grant_type", value: "authorization_code"), ("code", code.reveal()), ("redirect_uri", redirectURI),
        ]
        switch client.profile?.signIn.pkce ?? .s256 {
        case .s256: return fields + [("code_verifier", codeVerifier.reveal())]
        case .none: return fields
        }
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

/// The first tokens of a grant, and whose it is.
package struct ObtainedGrant: Sendable {
    /// Its id_token was validated, or is nil.
    package let tokens: TokenResponse
    /// `sub` of the id_token; nil if the answer has none.
    package let subject: String?
    /// The profile's `token_fields` that the answer has.
    package let keptFields: [String: String]

    package init(tokens: TokenResponse, subject: String?, keptFields: [String: String] = [:]) {
        self.tokens = tokens
        self.subject = subject
        self.keptFields = keptFields
    }
}
