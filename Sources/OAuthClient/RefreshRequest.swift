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
    /// Whose grant it is, by the id_token of the sign-in: an id_token that comes with the refresh is compared with it. Nil if that is
    /// not known.
    package var subject: String?

    package init(
        issuer: Issuer,
        profile: ProviderProfile? = nil,
        registration: ClientRegistration,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        refreshToken: RefreshToken,
        tokenSet: TokenSet? = nil,
        correlationID: String,
        hasWorkedBefore: Bool = false,
        subject: String? = nil
    ) {
        self.issuer = issuer
        self.profile = profile
        self.registration = registration
        self.basicCredentialEncoding = basicCredentialEncoding
        self.refreshToken = refreshToken
        self.tokenSet = tokenSet
        self.correlationID = correlationID
        self.hasWorkedBefore = hasWorkedBefore
        self.subject = subject
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

    package init(
        result: Result<TokenResponse, RefreshFailure>,
        serverDate: Timestamp? = nil,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        idTokenFault: String? = nil
    ) {
        self.idTokenFault = idTokenFault
        self.result = result
        self.serverDate = serverDate
        self.basicCredentialEncoding = basicCredentialEncoding
    }
}
