package import RefreshCore

/// How a sign-in ended.
package enum SignInEnd: Hashable, Sendable {
    /// The tokens are stored.
    case completed
    case cancelled(by: SignInCanceller)
    /// The person, or the server on their behalf, said no.
    case denied(ServerRefusal)
    /// Nobody came back in time.
    case timedOut
    case failed(SignInFailure)
    /// Another person signed in than the one whose account it is.
    case otherSubject
}

/// What ended a sign-in before its end; the raw values are those of the wire.
package enum SignInCanceller: String, Hashable, Sendable, CaseIterable {
    case user
    /// A new one for the same account.
    case superseded
    /// The account was removed.
    case removed
    /// The account's issuer, provider or client was.
    case changed
    /// The daemon ends.
    case stopping
}

/// Why a sign-in brought no tokens.
package struct SignInFailure: Error, Hashable, Sendable {
    /// What may help; the raw values are those of the wire.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// To sign in again: the server would not take the code, or its answer cannot be trusted.
        case refused
        /// To wait.
        case unavailable
        /// To change a setting, here or at the server.
        case misconfigured
    }

    package var kind: Kind
    /// One sentence, lower case, without the server's words.
    package var reason: String
    /// What the server said; nil if it was not asked, or said nothing that was read.
    package var detail: FailureDetail?

    package init(_ kind: Kind, _ reason: String, detail: FailureDetail? = nil) {
        self.kind = kind
        self.reason = reason
        self.detail = detail
    }

    /// A request that failed. A code is sent once: that its answer is lost is not mended by sending it again (RFC 6749 §4.1.2).
    package init(_ failure: RefreshFailure) {
        let kind: Kind =
            switch failure.failureClass {
            case .unreachable, .unanswered, .unavailable: .unavailable
            case .misconfigured, .untrusted: .misconfigured
            case .rejected, .refusedByGateway, .grantEnded, .userRequired: .refused
            }
        self.init(kind, failure.detail.summary, detail: failure.detail)
    }

    /// An error that came by the browser.
    init(_ kind: Kind, _ refusal: ServerRefusal) {
        let summary = "the server answers the browser with an error"
        let detail = FailureDetail(
            summary: summary,
            oauthError: refusal.error,
            oauthErrorDescription: refusal.description
        )
        self.init(kind, summary, detail: detail)
    }

    init(_ mistrust: Mistrust) {
        let reason =
            switch mistrust {
            case .wrongIssuer: "the answer names another issuer than the one that was asked"
            case .noIssuer: "the answer does not name its issuer, as this server says that its answers do"
            case .codeAndError: "the answer holds both a code and an error"
            case .malformedCode: "the answer holds no code that a server can have made"
            }
        self.init(.refused, reason)
    }
}
