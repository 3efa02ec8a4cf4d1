package import RefreshCore
internal import TextEncodings

/// The client, its server and one attempt: what requests of all kinds need to know.
package struct RequestingClient: Sendable {
    package var issuer: Issuer
    /// The provider's profile; nil for a server whose metadata says everything.
    package var profile: ProviderProfile?
    package var registration: ClientRegistration
    /// The form of Basic credentials that an earlier exchange found out; nil if this exchange has to find it out.
    package var basicCredentialEncoding: BasicCredentialEncoding?
    /// The identifier of this attempt in journals. It is sent if the profile names a header for it.
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

    /// Returns `tokens`. Marks them if the access token is not bound to a key although this client accepts only bound
    /// ones.
    ///
    /// RFC 9449 §5: any `token_type` except `DPoP` means that the token is not bound to a key. `N_A` is the type of a
    /// token from an exchange that must not be used in a header (RFC 8693 §2.2.1).
    package func judged(_ tokens: TokenResponse) -> TokenResponse {
        guard registration.dpopKey != nil, !registration.acceptsBearer else { return tokens }
        guard let type = tokens.accessToken?.type.lowercased() else { return tokens }
        let isForNoHeader = type == "n_a" && registration.serviceGrant?.exchange != nil
        var judged = tokens
        judged.issuance.flaw = type == "dpop" || isForNoHeader ? nil : .unbound
        return judged
    }

    /// The scopes to ask the person for: `asked`, or else the account's scopes, or else the profile's.
    package func scopes(_ asked: [String]?) -> [String] {
        asked ?? (registration.scopes.isEmpty ? profile?.signIn.scopes ?? [] : registration.scopes)
    }

    /// The same, but if there are no scopes and no profile, it returns those scopes of most sign-ins that the server
    /// offers.
    package func scopes(_ asked: [String]?, offeredBy metadata: AuthorizationServerMetadata) -> [String] {
        let named = scopes(asked)
        guard named.isEmpty, profile == nil else { return named }
        return Self.usualScopes.filter { metadata.scopes?.contains($0) ?? false }
    }

    /// Scopes for an ID token and for a grant that lasts longer than the browser's session (OpenID Connect Core
    /// §3.1.2.1, §11).
    package static let usualScopes = ["openid", TokenTarget.offlineAccess]

    /// The parameters that the account and the profile send at each sign-in. The account's take precedence.
    var usualParameters: [String: String] {
        (profile?.signIn.authorizationParameters ?? [:])
            .merging(registration.target) { _, target in target }
            .merging(registration.authorizationParameters) { _, account in account }
    }

    /// Whether asking for the person's consent may bring a refresh token where there was none (OpenID Connect Core
    /// §11).
    ///
    /// Entra needs no consent for that, and asking may require an administrator.
    package var consentMayHelp: Bool { profile?.signIn.consentMayHelp ?? !issuer.isEntra }

    /// Whether a sign-in with `scopes` asks for the person's consent by itself.
    ///
    /// OpenID Connect Core §11: `prompt` must contain `consent`, or the server may ignore `offline_access`. Most
    /// servers give a refresh token all the same, and `isUnneeded` says that this one did.
    package func asksForConsent(_ scopes: [String], isUnneeded: Bool) -> Bool {
        if let usual = usualParameters["prompt"] { return usual.split(separator: " ").contains { $0 == Self.consent } }
        return !isUnneeded && consentMayHelp && scopes.contains(TokenTarget.offlineAccess)
    }

    /// The value of `prompt` that asks for the person's consent (OpenID Connect Core §3.1.2.1).
    package static let consent = "consent"

    /// The failure of a request that was not sent because a setting has to be corrected first.
    ///
    /// - Parameters:
    ///   - summary: what failed, on what, and why. Lower case, no full stop.
    ///   - detail: what it concerns; may be a peer's text.
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

    /// The failure if the server has no endpoint of this name in its metadata, or one that cannot be used.
    ///
    /// - Parameter summary: what is wrong if there is none.
    package func lacking(
        _ name: String,
        _ summary: String,
        in metadata: AuthorizationServerMetadata,
        finding: FailureDetail.Finding? = nil
    ) -> RefreshFailure {
        guard metadata.unusableEndpoints.contains(name) else { return misconfigured(summary, finding: finding) }
        return misconfigured(MetadataError.insecureEndpoint, detail: name, finding: finding)
    }

    /// The failure of a request that succeeded, but whose answer has no `field` that can be used.
    package func unusable(_ field: String, inAnswerOf role: EndpointRole) -> RefreshFailure {
        misconfigured("the answer of the \(role.name) lacks a field, or has one that cannot be used", detail: field)
    }

    /// The failure of a request with an extra parameter that the request itself sets.
    package func reserved(_ parameter: String) -> RefreshFailure {
        misconfigured("an extra parameter has a name that the request itself uses", detail: parameter)
    }
}

extension Issuer {
    /// Whether the issuer is Microsoft Entra, in any of its clouds and editions ("National clouds", "Microsoft Entra
    /// authentication endpoints"; "Azure AD B2C: b2clogin.com"; "External tenants: ciamlogin.com").
    fileprivate var isEntra: Bool {
        let host = ShownHost.of(url).lowercased()
        return Self.entraHosts.contains(host) || host.hasSuffix(".ciamlogin.com") || host.hasSuffix(".b2clogin.com")
    }

    private static let entraHosts: Set = [
        "login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn",
        "login.chinacloudapi.cn", "login.microsoft.com", "login.windows.net", "sts.windows.net",
    ]
}
