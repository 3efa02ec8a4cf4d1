package import OAuthMessages
package import RefreshCore

/// The input for exchanging an authorization code for tokens (RFC 6749 §4.1.3).
package struct CodeExchange: Sendable {
    package var client: RequestingClient
    /// The code. It is sent once, because sending it twice would end the grant (RFC 6749 §4.1.2).
    package var code: Secret
    /// The redirect URI of the authorization request.
    package var redirectURI: String
    package var codeVerifier: Secret
    /// The nonce of the authorization request.
    package var nonce: Secret?
    /// Whether the answer must have an ID token, whatever the scopes are.
    package var demandsIDToken = false
    /// The ID token that came with the code; nil if only a code was asked for. The code is not sent if this ID token is
    /// invalid.
    package var frontIDToken: Secret?
    /// The maximum age of the authorization request.
    package var maxAge: Duration?
    /// The scopes of the authorization request; nil for the account's or the profile's.
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

    /// The body of RFC 6749 §4.1.3. This is the only place where a code is revealed.
    var fields: [(name: String, value: String)] {
        let fields =
            [(name: "grant_type", value: "authorization_code"), ("code", code.reveal()), ("redirect_uri", redirectURI)]
            + client.registration.targetFields
        guard client.profile?.signIn.sendsCodeChallenge ?? true else { return fields }
        return fields + [("code_verifier", codeVerifier.reveal())]
    }
}

/// The result of asking for a grant.
package struct GrantOutcome: Sendable {
    package internal(set) var result: Result<ObtainedGrant, RefreshFailure>
    /// The server's clock (`Date`) at the time of the answer; nil if the answer has none.
    package var serverDate: Timestamp?
    /// The form in which this server accepts Basic credentials, if this exchange found it out. To be stored.
    package var basicCredentialEncoding: BasicCredentialEncoding?
}

/// The first tokens of a grant, and the person who gave it.
package struct ObtainedGrant: Sendable {
    /// The tokens. The ID token was validated, or is nil.
    package let tokens: TokenResponse
    package var person: SignedInPerson
    /// The fields of the answer that the profile lists in `token_fields`.
    package var keptFields: [String: String] = [:]
    /// The scopes that the person was asked for; empty if the request named none.
    package var askedScopes: [String] = []

    /// The subject of the person; nil if the server named nobody.
    package var subject: String? { person.subject }
}
