/// How the server treats grants: the lifetimes of tokens, and the fate of used refresh tokens.
package struct GrantPolicy: Sendable, Equatable {
    /// The lifetime of an access token. `expires_in` is in whole seconds, so use whole seconds here.
    package var accessTokenLifetime: Duration
    /// Whether each refresh replaces the refresh token.
    package var isRotating: Bool
    /// Whether the use of a spent refresh token revokes the whole family (RFC 9700 §4.14.2).
    package var detectsReuse: Bool
    /// How long after a rotation the replaced token gets the same answer again; zero for not at all.
    package var gracePeriod: Duration
    /// The resources and audiences that may be requested; nil allows any.
    package var knownTargets: Set<String>?
    /// Whether a sign-in brings a refresh token. GitHub's classic apps get none.
    package var issuesRefreshTokens = true
    /// Whether a sign-in brings an ID token without the scope `openid`, as Apple's sign-ins do.
    package var issuesIDTokensUnasked = false
    /// Scopes that are never granted, whatever the person answers.
    package var declinedScopes: Set<String> = []
    /// Whether a refresh also brings an ID token, if `openid` was granted (OpenID Connect Core §12.2).
    package var refreshesIDTokens = false
    /// Whether the ID token that comes with a code has the hash of a different code.
    package var misbindsCodes = false
    /// The policy that ID tokens name in `tfp`; nil names the policy that really ran.
    package var claimedPolicy: String?
    /// How long an ID token lives, in whole seconds.
    package var idTokenLifetime = Duration.seconds(600)
    /// Who may register clients (RFC 7591), and with what proof.
    package var registration = Registration.open
    /// Whether registered redirect URIs are compared as whole strings, with their port. RFC 8252 §7.3 forbids that, and
    /// most servers do it.
    package var comparesWholeRedirectURIs = false
    /// Whether a registered client may use only the grants that it registered for (RFC 7591 §2), as most servers hold
    /// it.
    package var bindsGrantTypes = false
    /// The lifetime of a self-registered client's secret, in whole seconds; nil for no end.
    package var clientSecretLifetime: Duration?
    /// Whether clients may get a new secret before theirs expires (RFC 7592 §2.2).
    package var renewsClientSecrets = true
    /// Whether authorization requests need a code challenge (RFC 7636).
    package var requiresProofKey = true
    /// Whether authorization responses name their issuer (RFC 9207). Most servers do not.
    package var namesIssuer = true
    /// How long devices must wait between two polls, in whole seconds (RFC 8628 §3.2).
    package var deviceInterval = Duration.seconds(5)
    /// What happens to a grant after a request for a token with a narrower scope.
    package var narrowing = Narrowing.none
    /// Whether answers state the scope. Without it, a client does not notice that a grant was narrowed.
    package var statesScope = true
    /// Whether authorization requests with `prompt=consent` (OpenID Connect Core §3.1.2.1) are refused.
    package var refusesConsentPrompt = false
    /// Whether access tokens are bound to the key in the request's proof (RFC 9449 §5). If not, the server ignores
    /// proofs and answers with Bearer tokens.
    package var bindsTokens = true

    /// Who may register a client.
    package enum Registration: Sendable, Equatable {
        case closed
        case open
        /// Those who have the initial access token (RFC 7591 §3).
        case byToken(String)
    }

    /// The effect of a narrower scope on later access tokens (against RFC 6749 §6).
    package enum Narrowing: Sendable, Equatable {
        case none
        /// Later requests without a scope get the scope that was named last.
        case untilNamed
        /// The grant is reduced to it.
        case forGood
    }

    package init(
        accessTokenLifetime: Duration = .seconds(3600),
        isRotating: Bool = true,
        detectsReuse: Bool = true,
        gracePeriod: Duration = .zero,
        knownTargets: Set<String>? = nil
    ) {
        self.accessTokenLifetime = accessTokenLifetime
        self.isRotating = isRotating
        self.detectsReuse = detectsReuse
        self.gracePeriod = gracePeriod
        self.knownTargets = knownTargets
    }
}
