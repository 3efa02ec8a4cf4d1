/// What `authctl token` was asked for; both ways of reading the arguments end here.
struct TokenRequest: Hashable, Sendable {
    var account: String
    /// Seconds the token must still be valid. Nil: it must not have ended.
    var minimumValidity: Int64?
    /// Scope tokens of a token set of its own. Empty, as are the next two: the account's default token.
    var scopes: [String] = []
    /// Resource URIs (RFC 8707) of a token set of its own.
    var resources: [String] = []
    /// The audience of a token set of its own. Nil: none.
    var audience: String?
    /// Refresh even if the token is valid.
    var force = false
    var format = TokenFormat.raw
    /// Whose mailbox it is, for the SASL formats. Nil: the account's name says it, if it is an address.
    var user: String?
    /// The value of `--socket`.
    var socket: String?

    /// The scope tokens in the value of one option: scopes are often copied with their spaces.
    static func scopeTokens(of value: String) -> [String] {
        value.split(separator: " ").map(String.init)
    }
}
