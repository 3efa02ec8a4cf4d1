package import RefreshCore

/// Why an authorization server's metadata could not be fetched.
package enum MetadataError: Error, Hashable, Sendable {
    /// No answer came. No token was sent, so the class is never one that ends a grant.
    case noAnswer(FailureClass, summary: String)
    /// The server, or a proxy before it, answered that it cannot serve now.
    case unavailable(status: Int, retryAfter: Duration?)
    /// Neither document exists.
    case notPublished(status: Int)
    /// The documents are for another issuer, `published`.
    case issuerMismatch(published: String?)
    case noTokenEndpoint
    /// An endpoint is not an `https` URL. The associated value is the endpoint's name in the document.
    case unusableEndpoint(String)

    /// Whether the same request may succeed a little later.
    package var willPass: Bool {
        switch self {
        case .noAnswer(let failureClass, _): !failureClass.isMisconfiguration
        case .unavailable: true
        case .notPublished, .issuerMismatch, .noTokenEndpoint, .unusableEndpoint: false
        }
    }

    /// The failure to report for a refresh that needed this metadata.
    package var refreshFailure: RefreshFailure {
        switch self {
        case .noAnswer(let failureClass, let summary):
            RefreshFailure(failureClass, detail: FailureDetail(summary: summary))
        case .unavailable(let status, let retryAfter):
            RefreshFailure(
                .unavailable,
                detail: FailureDetail(summary: "the server's metadata is unavailable now", httpStatus: status),
                retryAfter: retryAfter
            )
        case .notPublished(let status):
            RefreshFailure(
                .misconfigured,
                detail: FailureDetail(
                    summary:
                        "the issuer publishes no metadata: check its URL, or name the endpoints in a provider profile",
                    httpStatus: status
                )
            )
        case .issuerMismatch(let published):
            RefreshFailure(
                .misconfigured,
                detail: FailureDetail(
                    summary: "the server's metadata is for another issuer: the two must be identical",
                    oauthErrorDescription: published
                )
            )
        case .noTokenEndpoint:
            RefreshFailure(
                .misconfigured,
                detail: FailureDetail(summary: "the server's metadata names no token endpoint")
            )
        case .unusableEndpoint(let name):
            RefreshFailure(
                .misconfigured,
                detail: FailureDetail(
                    summary: "the server's metadata names an endpoint that is not https",
                    oauthErrorDescription: name
                )
            )
        }
    }
}
