/// What `authctl token` was asked for; both ways of reading the arguments end here.
struct TokenRequest: Hashable, Sendable {
    var account: String
    /// Seconds the token must still be valid. Nil: it must not have ended.
    var minimumValidity: Int64?
    /// Refresh even if the token is valid.
    var force = false
    var format = TokenFormat.raw
    /// Whose mailbox it is, for the SASL formats. Nil: the account's name says it, if it is an address.
    var user: String?
    /// The value of `--socket`.
    var socket: String?
}
