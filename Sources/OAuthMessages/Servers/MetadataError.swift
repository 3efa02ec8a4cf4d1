package import RefreshCore

/// Why an authorization server's metadata could not be fetched.
package enum MetadataError: Error, Hashable, Sendable {
    /// No answer came. No token was sent, so the row's class is never one that ends a grant.
    case noAnswer(FailureRow)
    /// The server, or a proxy before it, answered that it cannot serve now.
    case unavailable(status: Int, retryAfter: Duration?)
    /// The server redirects to `to`, on another host if `isElsewhere`: a captive portal does that, too.
    case redirected(status: Int, to: String, isElsewhere: Bool)
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
        case .noAnswer(let row): !row.failureClass.isMisconfiguration
        case .unavailable: true
        case .redirected(_, _, let isElsewhere): isElsewhere
        case .notPublished, .issuerMismatch, .noTokenEndpoint, .unusableEndpoint: false
        }
    }

    /// The failure to report for a refresh that needed this metadata.
    package var refreshFailure: RefreshFailure {
        switch self {
        case .noAnswer(let row): RefreshFailure(row.failureClass, detail: FailureDetail(summary: row.summary))
        case .unavailable(let status, let retryAfter):
            RefreshFailure(
                .unavailable,
                detail: FailureDetail(summary: Self.unavailableNow, httpStatus: status),
                retryAfter: retryAfter
            )
        case .redirected(let status, let place, let isElsewhere):
            .misconfigured(
                "the issuer's address redirects elsewhere, which is never followed: check its URL",
                httpStatus: status,
                saying: place
            )
            .with(isElsewhere ? .unavailable : .misconfigured)
        case .notPublished(let status):
            .misconfigured(
                "the issuer publishes no metadata: check its URL, or name the endpoints in a provider profile",
                httpStatus: status
            )
        case .issuerMismatch(let published):
            .misconfigured("the server's metadata is for another issuer: the two must be identical", saying: published)
        case .noTokenEndpoint: .misconfigured("the server's metadata names no token endpoint")
        case .unusableEndpoint(let name): .misconfigured(Self.insecureEndpoint, saying: name)
        }
    }

    package static let unavailableNow = "the server's metadata is unavailable now"
    static let insecureEndpoint = "the server's metadata names an endpoint that is not https, or is on this machine"
}

extension RefreshFailure {
    fileprivate static func misconfigured(
        _ summary: String,
        httpStatus: Int? = nil,
        saying description: String? = nil
    ) -> RefreshFailure {
        let detail = FailureDetail(
            summary: summary,
            httpStatus: httpStatus,
            oauthErrorDescription: description
        )
        return RefreshFailure(.misconfigured, detail: detail)
    }

    fileprivate func with(_ failureClass: FailureClass) -> RefreshFailure {
        RefreshFailure(failureClass, detail: detail)
    }
}
