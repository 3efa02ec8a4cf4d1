/// How `authctl token` prints a token.
enum TokenFormat: String, CaseIterable, Sendable {
    /// The access token alone.
    case raw
    /// An `Authorization` header line (RFC 9110 §11.6.2).
    case header
    /// The reply of `AcquireToken`: `accessToken`, `expiresAtUSec`, `tokenType`.
    case json
}
