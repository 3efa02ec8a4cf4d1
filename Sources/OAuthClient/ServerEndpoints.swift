/// The endpoints of an authorization server that sign-in, sign-out and registration need; nil where it has none.
///
/// Metadata and provider profiles name them alike.
package struct ServerEndpoints: Hashable, Sendable {
    /// Where a person's browser is sent (RFC 6749 §3.1).
    package var authorization: Endpoint?
    /// RFC 8628 §3.1.
    package var deviceAuthorization: Endpoint?
    /// RFC 9126 §2.
    package var pushedAuthorizationRequest: Endpoint?
    /// Where a person's browser is sent to end the session there (OpenID Connect RP-Initiated Logout §2).
    package var endSession: Endpoint?
    /// RFC 7591 §3.
    package var registration: Endpoint?
    /// Where the server's keys are (RFC 7517 §5).
    package var keySet: Endpoint?
    /// OpenID Connect Core §5.3.
    package var userInfo: Endpoint?

    package init() {}

    /// What each is called in metadata (RFC 8414 §2) and in profiles.
    static let names: [(name: String, path: any WritableKeyPath<ServerEndpoints, Endpoint?> & Sendable)] = [
        ("authorization_endpoint", \.authorization),
        ("device_authorization_endpoint", \.deviceAuthorization),
        ("pushed_authorization_request_endpoint", \.pushedAuthorizationRequest),
        ("end_session_endpoint", \.endSession),
        ("registration_endpoint", \.registration),
        ("jwks_uri", \.keySet),
        ("userinfo_endpoint", \.userInfo),
    ]

    /// These endpoints, and `others` where there are none.
    func completed(by others: ServerEndpoints) -> ServerEndpoints {
        var all = self
        for (_, path) in Self.names where all[keyPath: path] == nil { all[keyPath: path] = others[keyPath: path] }
        return all
    }
}
