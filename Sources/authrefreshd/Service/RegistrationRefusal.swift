internal import RefreshCore

/// What a server's refusal to register a client means (RFC 7591 §3.2.2), and what helps.
struct RegistrationRefusal: Hashable {
    let reason: String
    let hint: String
    /// Whether trying again will not help.
    let isFinal: Bool

    init(_ failure: RefreshFailure) {
        let detail = failure.detail
        switch failure.failureClass {
        case .unreachable, .unanswered, .unavailable:
            (reason, hint, isFinal) = (detail.summary, "try again later", false)
            return
        case .misconfigured, .untrusted, .rejected, .refusedByGateway, .grantEnded, .userRequired: isFinal = true
        }
        switch (detail.oauthError?.lowercased(), detail.httpStatus) {
        case ("invalid_redirect_uri", _):
            reason = "the server does not take its redirect URIs"
            hint = "--redirect-uri, --redirect-port or --redirect-scheme names one that it takes"
        case ("invalid_client_metadata", _):
            reason = "the server does not take what the client says about itself"
            hint = "--client-auth METHOD and --scope SCOPE change that"
        case ("invalid_software_statement", _), ("unapproved_software_statement", _):
            reason = "the server registers software only that it has approved"
            hint = "ask its administrator for a client id, and give that with --client-id ID"
        case (_, 401), (_, 403):
            reason = "the server registers those only that it has given an initial access token"
            hint = "--initial-access-token-file FILE"
        default:
            reason = detail.summary
            hint = "ask the server's administrator for a client id, and give that with --client-id ID"
        }
    }
}
