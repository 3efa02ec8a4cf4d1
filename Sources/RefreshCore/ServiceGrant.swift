/// How the client of a service account obtains tokens for itself, as often as it wants to; the raw values are the registered names of
/// `grant_type`.
package enum ServiceGrant: String, Hashable, Sendable, CaseIterable {
    /// The client proves itself, and needs nothing more (RFC 6749 §4.4).
    case clientCredentials = "client_credentials"
}
