package import RefreshCore

/// One client of one server, and one attempt at something: what requests of all kinds need.
package struct RequestingClient: Sendable {
    package var issuer: Issuer
    /// Nil for a server whose metadata says it all.
    package var profile: ProviderProfile?
    package var registration: ClientRegistration
    /// What an earlier exchange found out; nil lets this one find out.
    package var basicCredentialEncoding: BasicCredentialEncoding?
    /// Names the attempt in journals; sent where the profile says how.
    package var correlationID: String

    package init(
        issuer: Issuer,
        profile: ProviderProfile? = nil,
        registration: ClientRegistration,
        basicCredentialEncoding: BasicCredentialEncoding? = nil,
        correlationID: String
    ) {
        self.issuer = issuer
        self.profile = profile
        self.registration = registration
        self.basicCredentialEncoding = basicCredentialEncoding
        self.correlationID = correlationID
    }

    /// `tokens`, with a mark if their access token is bound to no key and this client takes none such.
    ///
    /// RFC 9449 §5: any `token_type` but `DPoP` says that the token is bound to none. What is exchanged for a token that stands in no
    /// header has the type `N_A` (RFC 8693 §2.2.1).
    package func judged(_ tokens: TokenResponse) -> TokenResponse {
        guard registration.dpopKey != nil, !registration.acceptsBearer else { return tokens }
        let type = tokens.accessToken.type.lowercased()
        let isForNoHeader = type == "n_a" && registration.serviceGrant?.exchange != nil
        var judged = tokens
        judged.issuance.isUnbound = type != "dpop" && !isForNoHeader
        return judged
    }

    /// What the person is asked to grant: `asked`, or else the account's scopes, or else the profile's.
    package func scopes(_ asked: [String]?) -> [String] {
        asked ?? (registration.scopes.isEmpty ? profile?.signIn.scopes ?? [] : registration.scopes)
    }

    /// The same; where nobody names any and there is no profile, what most sign-ins ask for, as far as the server offers it.
    package func scopes(_ asked: [String]?, offeredBy metadata: AuthorizationServerMetadata) -> [String] {
        let named = scopes(asked)
        guard named.isEmpty, profile == nil else { return named }
        return Self.usualScopes.filter { metadata.scopes?.contains($0) ?? false }
    }

    /// An ID token, and a grant that outlives the browser's session (OpenID Connect Core §3.1.2.1, §11).
    package static let usualScopes = ["openid", "offline_access"]

    /// Why nothing was sent: a setting has to be mended first.
    ///
    /// - Parameter detail: what it concerns; may be a peer's text.
    package func misconfigured(
        _ summary: String,
        detail: String? = nil,
        finding: FailureDetail.Finding? = nil
    ) -> RefreshFailure {
        RefreshFailure(
            .misconfigured,
            detail: FailureDetail(
                summary: summary,
                oauthErrorDescription: FailureText.clean(detail, hiding: []),
                correlationID: correlationID,
                finding: finding
            )
        )
    }
}
