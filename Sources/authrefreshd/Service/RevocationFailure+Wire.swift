internal import OAuthClient
internal import RefreshCore

extension RevocationFailure {
    /// What people are told of it.
    var detail: FailureDetail {
        switch self {
        case .unsupported: FailureDetail(summary: "the server does not revoke tokens")
        case .stillValid: FailureDetail(summary: "the server cannot revoke tokens now", httpStatus: 503)
        case .accessTokenNotRevoked(let failure), .failed(let failure): failure.detail
        }
    }
}
