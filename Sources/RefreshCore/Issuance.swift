/// What one successful answer of the token endpoint says about its tokens, without the tokens (RFC 6749 §5.1).
///
/// The machine decides by this; the tokens themselves go from the answer to the store without passing through it.
package struct Issuance: Hashable, Sendable {
    /// `expires_in`, zero if the token has ended already; nil if the server gave none that makes sense.
    package var lifetime: Duration?
    /// What `lifetime` rests on, or why there is none.
    package var lifetimeBasis: LifetimeBasis
    /// `refresh_in`: when the server would like to be asked again; nil if it did not say.
    package var refreshIn: Duration?
    /// Whether the answer carries a refresh token that differs from the one that was spent.
    package var isRotated: Bool
    /// How long the refresh token lives from now (`refresh_expires_in` and its kin, or the provider profile); nil if unknown or unlimited.
    package var refreshTokenLifetime: Duration?

    package init(
        lifetime: Duration?,
        lifetimeBasis: LifetimeBasis? = nil,
        refreshIn: Duration? = nil,
        isRotated: Bool = false,
        refreshTokenLifetime: Duration? = nil
    ) {
        self.lifetime = lifetime
        self.lifetimeBasis = lifetimeBasis ?? (lifetime == nil ? .notStated : .stated)
        self.refreshIn = refreshIn
        self.isRotated = isRotated
        self.refreshTokenLifetime = refreshTokenLifetime
    }
}
