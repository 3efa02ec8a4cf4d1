/// How `authctl token` prints a token.
enum TokenFormat: String, CaseIterable, Sendable {
    /// The access token alone.
    case raw
    /// An `Authorization` header line (RFC 9110 §11.6.2).
    case header
    /// The reply of `AcquireToken`: `accessToken`, `expiresAtUSec`, `tokenType`.
    case json
    /// Lines for a shell's `eval`: `export AUTHREFRESH_ACCESS_TOKEN='…'`.
    case env
    /// The initial response of SASL XOAUTH2, in base64, as Google and Microsoft describe it.
    case xoauth2
    /// The initial response of SASL OAUTHBEARER, in base64 (RFC 7628 §3.1).
    case oauthbearer

    /// Whether the form names whose mailbox the token is for.
    var needsUser: Bool {
        switch self {
        case .raw, .header, .json, .env: false
        case .xoauth2, .oauthbearer: true
        }
    }
}
