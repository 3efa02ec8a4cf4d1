package import RefreshCore

/// What one refresh needs (RFC 6749 §6).
package struct RefreshRequest: Sendable {
    package var issuer: Issuer
    /// Nil for a server whose metadata says it all.
    package var profile: ProviderProfile?
    package var registration: ClientRegistration
    /// What an earlier refresh found out; nil lets this one find out.
    package var basicCredentialEncoding: BasicCredentialEncoding?
    package var refreshToken: RefreshToken
    /// What is asked for; nil for the account's default access token.
    package var tokenSet: TokenSet?
    /// Names the attempt in journals; sent where the profile says how.
    package var correlationID: String
    /// Whether this account was refreshed before with the same registration.
    ///
    /// A server that then answers `invalid_request` means the token, not the form of the request.
    package var hasWorkedBefore: Bool

    package init(
        issuer: Issuer,
        profile: ProviderProfile? = nil,
        registration: ClientRegistration,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        refreshToken: RefreshToken,
        tokenSet: TokenSet? = nil,
        correlationID: String,
        hasWorkedBefore: Bool = false
    ) {
        self.issuer = issuer
        self.profile = profile
        self.registration = registration
        self.basicCredentialEncoding = basicCredentialEncoding
        self.refreshToken = refreshToken
        self.tokenSet = tokenSet
        self.correlationID = correlationID
        self.hasWorkedBefore = hasWorkedBefore
    }
}

/// What came of one refresh.
package struct RefreshOutcome: Sendable {
    package let result: Result<TokenResponse, RefreshFailure>
    /// The server's clock (`Date`) when it answered; nil if it said nothing.
    package let serverDate: Timestamp?
    /// How Basic credentials have to be written for this server, if this refresh found it out: to be stored.
    package let basicCredentialEncoding: BasicCredentialEncoding?

    package init(
        result: Result<TokenResponse, RefreshFailure>,
        serverDate: Timestamp? = nil,
        basicCredentialEncoding: BasicCredentialEncoding? = nil
    ) {
        self.result = result
        self.serverDate = serverDate
        self.basicCredentialEncoding = basicCredentialEncoding
    }
}
