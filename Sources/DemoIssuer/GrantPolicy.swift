/// How the server treats grants: how long tokens live, and what becomes of a refresh token that was used.
package struct GrantPolicy: Sendable, Equatable {
    /// How long an access token lives. `expires_in` counts whole seconds, so whole seconds are what to give here.
    package var accessTokenLifetime: Duration
    /// How long a refresh token lives from the moment it was issued; nil means until it is revoked or used up.
    package var refreshTokenLifetime: Duration?
    /// Whether answers tell how long the refresh token lives, as `refresh_expires_in` (Keycloak's name for it).
    package var reportsRefreshTokenLifetime: Bool
    /// Whether each refresh replaces the refresh token.
    package var isRotating: Bool
    /// Whether the use of a spent refresh token revokes the whole family (RFC 9700 §4.14.2).
    package var detectsReuse: Bool
    /// How long after a rotation the token just replaced gets the same answer again; zero means not at all.
    package var gracePeriod: Duration
    /// The resources and audiences that tokens may be asked for; nil takes any.
    package var knownTargets: Set<String>?
    /// Whether a sign-in brings a refresh token; GitHub's classic apps get none.
    package var issuesRefreshTokens = true
    /// Whether a sign-in brings an ID token though `openid` was not asked for, as Apple's do.
    package var issuesIDTokensUnasked = false
    /// Scopes that no sign-in is granted, whatever the person is asked.
    package var declinedScopes: Set<String> = []
    /// Whether a refresh brings an ID token, too, where `openid` was granted (OpenID Connect Core §12.2).
    package var refreshesIDTokens = false
    /// Whether the ID token that comes with a code has the hash of another one.
    package var misbindsCodes = false
    /// The policy that ID tokens name as theirs (`tfp`), whichever was run; nil: the one that was run.
    package var claimedPolicy: String?
    /// How long an ID token lives, in whole seconds.
    package var idTokenLifetime = Duration.seconds(600)
    /// Whether clients may register themselves (RFC 7591), and with what they have to show that they may.
    package var registration = Registration.open
    /// How long the secret of a client lives that registered itself, in whole seconds; nil for ever.
    package var clientSecretLifetime: Duration?
    /// Whether clients may have another secret before theirs ends (RFC 7592 §2.2).
    package var renewsClientSecrets = true
    /// Whether authorization requests need a code challenge (RFC 7636).
    package var requiresProofKey = true
    /// Whether authorization responses name their issuer (RFC 9207); most servers do not.
    package var namesIssuer = true
    /// What devices have to wait between two polls, in whole seconds (RFC 8628 §3.2).
    package var deviceInterval = Duration.seconds(5)
    /// How long a person may take to type a device's code.
    package var deviceCodeLifetime = Duration.seconds(600)

    /// What becomes of a grant when a token of a narrower scope is asked for.
    package var narrowing = Narrowing.none
    /// Whether access tokens are bound to the key that a request proves (RFC 9449 §5). A server that binds none looks at no proof, and
    /// answers with Bearer tokens.
    package var bindsTokens = true

    /// Who may register a client.
    package enum Registration: Sendable, Equatable {
        case closed
        case open
        /// Whoever has the initial access token (RFC 7591 §3).
        case byToken(String)
    }

    /// What a narrower scope does beyond the one access token that it was asked for (against RFC 6749 §6).
    package enum Narrowing: Sendable, Equatable {
        case none
        /// Later requests that name no scope get the last that was named.
        case untilNamed
        /// The grant has no more than that.
        case forGood
    }

    package init(
        accessTokenLifetime: Duration = .seconds(3600),
        refreshTokenLifetime: Duration? = nil,
        reportsRefreshTokenLifetime: Bool = false,
        isRotating: Bool = true,
        detectsReuse: Bool = true,
        gracePeriod: Duration = .zero,
        knownTargets: Set<String>? = nil
    ) {
        self.accessTokenLifetime = accessTokenLifetime
        self.refreshTokenLifetime = refreshTokenLifetime
        self.reportsRefreshTokenLifetime = reportsRefreshTokenLifetime
        self.isRotating = isRotating
        self.detectsReuse = detectsReuse
        self.gracePeriod = gracePeriod
        self.knownTargets = knownTargets
    }
}
