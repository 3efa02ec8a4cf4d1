package import RefreshCore

/// What an authorization response is worth.
package enum AuthorizationVerdict: Equatable, Sendable {
    /// The server gave a code for our request.
    case code(AuthorizationCode)
    /// The server gave an error for our request.
    case error(ServerRefusal)
    /// It is no answer to our request, and changes nothing: else anybody could end a sign-in.
    case refused(ResponseRefusal)
    /// It has our `state`, and cannot be right: the sign-in ends, and its code is not used (RFC 9207 §2.4).
    case untrusted(Mistrust)
}

/// An authorization code (RFC 6749 §1.3.1), with what came beside it.
package struct AuthorizationCode: Equatable, Sendable {
    /// Bytes of a code. The longest seen, Entra's, have two thousand.
    static let bytesMax = 8 << 10

    package let secret: Secret
    /// Parameters that the provider's profile asks to be kept. Each is cut to `FailureText.limit` characters.
    package let keptFields: [String: String]

    init(_ secret: Secret, keptFields: [String: String] = [:]) {
        self.secret = secret
        self.keptFields = keptFields.compactMapValues { FailureText.clean($0) }
    }

    /// Whether `text` may be a code: VSCHAR of RFC 6749 appendix A.11, and no longer than any is.
    static func isPossible(_ text: String) -> Bool {
        (1...bytesMax).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}

/// Why what came is not taken for an answer to the sign-in.
package enum ResponseRefusal: String, Hashable, Sendable, CaseIterable {
    /// It carries no `state`, or another one than ours: made up, or from another sign-in.
    case wrongState
    /// There is neither a code nor an error in it.
    case noAnswer
    /// A code alone is not enough for this server.
    case needsWholeAddress
    /// The answer has come already: each counts once.
    case alreadyAnswered
    /// This sign-in waits for no answer by a browser, or not yet.
    case notAwaited
}

/// Why an answer with the right `state` is not believed.
package enum Mistrust: String, Hashable, Sendable, CaseIterable {
    /// It names another issuer: the person was led from one server to another (mix-up, RFC 9700 §4.4).
    case wrongIssuer
    /// The server says that it always names itself, and did not.
    case noIssuer
    case codeAndError
    /// No code of RFC 6749 appendix A.11, or several.
    case malformedCode
}

/// An error that the server gave in place of a code, or of a device's tokens (RFC 6749 §4.1.2.1, RFC 8628 §3.5).
package struct ServerRefusal: Hashable, Sendable {
    /// `error`, fit for a terminal.
    package let error: String
    /// `error_description`, fit for a terminal; nil if there was none.
    package let description: String?

    package init(error: String, description: String? = nil) {
        self.error = FailureText.clean(error) ?? "unreadable"
        self.description = FailureText.clean(description)
    }

    /// What it means for the sign-in.
    package enum Meaning: Hashable, Sendable {
        /// The person, or the server on their behalf, said no.
        case denied
        case failed(SignInFailure.Kind)
    }

    package var meaning: Meaning {
        switch error {
        // LinkedIn has words of its own for a person who turns back.
        case "access_denied", "user_cancelled_login", "user_cancelled_authorize", "authorization_declined": .denied
        case "server_error", "temporarily_unavailable": .failed(.unavailable)
        case "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope", "invalid_target",
            "invalid_client", "invalid_request_uri", "invalid_request_object", "request_not_supported",
            "request_uri_not_supported", "registration_not_supported":
            .failed(.misconfigured)
        // login_required, consent_required, account_selection_required and whatever else a server says.
        default: .failed(.refused)
        }
    }
}
