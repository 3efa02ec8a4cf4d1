/// The daemon's own fields in the journal: the only list. `authctl history` reads some of them.
package enum JournalKey: String, CaseIterable, CodingKey, Sendable {
    case account = "AUTHREFRESH_ACCOUNT"
    case issuer = "AUTHREFRESH_ISSUER"
    /// An `AccountNews`.
    case event = "AUTHREFRESH_EVENT"
    case error = "AUTHREFRESH_ERROR"
    case correlationID = "AUTHREFRESH_CORRELATION_ID"
    case generation = "AUTHREFRESH_GENERATION"
    /// The identifier of the store's key: 16 hexadecimal digits that reveal nothing about it.
    case key = "AUTHREFRESH_KEY"
    /// When the daemon tries again, in µs since 1970.
    case retryAt = "AUTHREFRESH_RETRY_AT_USEC"
    /// When the affected token expires, in µs since 1970.
    case expiresAt = "AUTHREFRESH_EXPIRES_AT_USEC"
    /// Scopes, resources and audience of the affected token set, separated by semicolons.
    case tokenSet = "AUTHREFRESH_TOKEN_SET"
    /// Why somebody is needed, or why a sign-in failed.
    case reason = "AUTHREFRESH_REASON"
    /// The server's details besides the error: description, sub-error, provider code, HTTP status.
    case detail = "AUTHREFRESH_DETAIL"
    /// How many lines were omitted: refusals of the same origin (lists or socket) since the last written one, or any
    /// lines while the journal accepted none; or failures during an outage of the server.
    case leftOut = "AUTHREFRESH_LEFT_OUT"
}
