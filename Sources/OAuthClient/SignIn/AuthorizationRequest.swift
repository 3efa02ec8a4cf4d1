package import RefreshCore

/// What has to be known to send a person's browser to an authorization server (RFC 6749 §4.1.1).
package struct AuthorizationRequest: Sendable {
    package var client: RequestingClient
    package var redirectURI: String
    /// Comes back with the answer and binds it to this request (RFC 9700 §2.1).
    package var state: Secret
    /// Comes back in the id_token; nil sends none.
    package var nonce: Secret?
    /// What the code is bound to (RFC 7636 §4.1); only its hash is sent.
    package var codeVerifier: Secret
    /// Nil asks for the account's, else for the profile's.
    package var scopes: [String]?
    package var prompt: String?
    package var loginHint: String?
    /// The best first (OpenID Connect Core §3.1.2.1).
    package var acrValues: [String] = []
    /// How long ago the person may have signed in at the server; whole seconds are sent.
    package var maxAge: Duration?
    /// A JSON object (OpenID Connect Core §5.5).
    package var claims: String?
    /// RFC 8707 §2.1; each is a parameter of its own.
    package var resources: [String] = []

    package init(
        client: RequestingClient,
        redirectURI: String,
        state: Secret,
        nonce: Secret? = nil,
        codeVerifier: Secret
    ) {
        self.client = client
        self.redirectURI = redirectURI
        self.state = state
        self.nonce = nonce
        self.codeVerifier = codeVerifier
    }
}

/// Where a person's browser has to go, and what the answer has to look like.
package struct AuthorizationURL: Sendable {
    /// Holds `state`: to be shown to the account's owner only.
    package let url: String
    /// The host that the browser will show: the authorization endpoint's.
    package let host: String
    /// How long the server keeps a pushed request; nil if it was not pushed.
    package let expiresIn: Duration?
    /// The answer must name its issuer (RFC 9207 §2.4).
    package let requiresIssuer: Bool
    /// What `iss` in the answer must be, byte for byte, if it is there.
    package let issuer: String
}
