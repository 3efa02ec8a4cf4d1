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

    /// Whether the grant stands, and trying again may end it: its tokens are needed for that.
    var isTransient: Bool {
        switch self {
        case .unsupported, .accessTokenNotRevoked: false
        case .stillValid: true
        case .failed(let failure):
            switch failure.failureClass {
            case .unreachable, .unanswered, .unavailable: true
            case .misconfigured, .rejected, .grantEnded, .userRequired: false
            }
        }
    }
}
