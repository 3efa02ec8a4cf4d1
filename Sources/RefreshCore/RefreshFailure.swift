/// Why a refresh gave no tokens: one class, which decides what happens next, and what is known about the cause.
///
/// An `Error` so that it can be the failure side of a `Result`; it is never thrown.
package struct RefreshFailure: Error, Hashable, Sendable {
    package var failureClass: FailureClass
    package var detail: FailureDetail
    /// What the server asked for in `Retry-After` (RFC 9110 §10.2.3); nil if it asked for nothing. Never negative.
    package var retryAfter: Duration?

    package init(_ failureClass: FailureClass, detail: FailureDetail, retryAfter: Duration? = nil) {
        self.failureClass = failureClass
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// The server gave an access token that is bound to no key, and the account takes none such.
    package static func unboundToken(correlationID: String? = nil) -> RefreshFailure {
        let detail = FailureDetail(
            summary: "the server gave an access token that is not bound to the account's key",
            // RFC 6749 §5.1: an answer with tokens has no other.
            httpStatus: 200,
            correlationID: correlationID
        )
        return RefreshFailure(.misconfigured, detail: detail)
    }

    /// Whether the server wants fewer requests: 429 (RFC 6585 §4), or unavailability with a time to come back (RFC 9110 §10.2.3).
    package var isThrottled: Bool {
        detail.httpStatus == 429 || failureClass == .unavailable && retryAfter != nil
    }
}

/// What a failure means for the grant. Only the last four can end in *interaction required*: only the authorization server
/// can sign a user out.
package enum FailureClass: String, Hashable, Sendable, CaseIterable {
    /// The request never reached the authorization server (no route, DNS, refused connection, TLS not finished).
    case unreachable
    /// The request may have reached the server, its answer did not reach us, or said that the server failed (5xx): the refresh token may
    /// have been spent.
    case unanswered
    /// The server, or something on the way to it, answered that it cannot serve now (429, captive portal, junk).
    case unavailable
    /// The server refuses how we ask (`invalid_client`): asking a person to sign in would not help.
    case misconfigured
    /// The server's certificate is not trusted, so nothing was sent. A person mends that, or signs in at a captive portal.
    case untrusted
    /// The authorization server refused, and gave no reason that is about the grant: believed when it says the same three times in ten
    /// minutes, and not for good.
    case rejected
    /// Something in front of the authorization server seems to have refused: believed like `rejected`, but after a day.
    case refusedByGateway
    /// The authorization server says that the grant has ended (`invalid_grant` or the provider's word for it).
    case grantEnded
    /// The authorization server wants the user (`interaction_required`, `login_required`, `consent_required`, step-up).
    case userRequired

    /// Whether it is what a server says of a person's grant.
    package var isAboutGrant: Bool {
        switch self {
        case .rejected, .refusedByGateway, .grantEnded, .userRequired: true
        case .unreachable, .unanswered, .unavailable, .misconfigured, .untrusted: false
        }
    }

    /// Whether a person has to mend something that no sign-in mends: shown as *misconfigured*.
    package var isMisconfiguration: Bool {
        switch self {
        case .misconfigured, .untrusted: true
        case .unreachable, .unanswered, .unavailable, .rejected, .refusedByGateway, .grantEnded, .userRequired: false
        }
    }
}

extension RefreshFailure {
    /// What tells this refusal from another: the same words again are the same refusal.
    ///
    /// Without the description, in which servers put the time and the number of the request.
    var refusalText: String {
        let detail = detail
        return [
            failureClass.rawValue, detail.httpStatus.map { "\($0)" }, detail.oauthError, detail.subError,
            detail.providerCode,
        ].map { $0 ?? "" }.joined(separator: " ")
    }
}

/// What is known about a failure, for people and programs to read; holds no secret.
package struct FailureDetail: Hashable, Sendable {
    /// One constant, lower-case sentence that says what failed: "the server could not be reached".
    package var summary: String
    /// The HTTP status, if there was an answer.
    package var httpStatus: Int?
    /// `error` (RFC 6749 §5.2), as the server gave it.
    package var oauthError: String?
    /// `error_description`, cut to 200 characters, control characters removed.
    package var oauthErrorDescription: String?
    /// The provider's finer code beside `error`: Entra's `suberror`, Google's `error_subtype`.
    package var subError: String?
    /// A provider's own number or word: `AADSTS70043`.
    package var providerCode: String?
    /// Identifies the attempt in our journal and, where the provider takes it, in the provider's.
    package var correlationID: String?
    /// The other account that is at fault: one whose token this one's is derived from. Nil if none is.
    package var source: AccountName?
    /// What this client found wrong by itself, where something particular helps; nil elsewhere. It is not stored.
    package var finding: Finding?

    package enum Finding: Hashable, Sendable {
        /// The server has no device authorization endpoint (RFC 8628 §3.1), or does not publish it.
        case noDeviceEndpoint
        /// The ID token is missing or wrong.
        case badIDToken
    }

    package init(
        summary: String,
        httpStatus: Int? = nil,
        oauthError: String? = nil,
        oauthErrorDescription: String? = nil,
        subError: String? = nil,
        providerCode: String? = nil,
        correlationID: String? = nil,
        source: AccountName? = nil,
        finding: Finding? = nil
    ) {
        self.summary = summary
        self.httpStatus = httpStatus
        self.oauthError = oauthError
        self.oauthErrorDescription = oauthErrorDescription
        self.subError = subError
        self.providerCode = providerCode
        self.correlationID = correlationID
        self.source = source
        self.finding = finding
    }
}

/// Makes what a server wrote fit for journals and terminals.
package enum FailureText {
    /// Longest text kept, in characters.
    package static let limit = 200
    /// Only so much of a server's text is looked at.
    private static let readLimit = 8192

    /// `text` without control characters and without `secrets`, cut to `limit` characters; nil if nothing is left.
    package static func clean(_ text: String?, hiding secrets: [Secret] = []) -> String? {
        guard let text else { return nil }
        var bytes = Array(text.utf8.prefix(readLimit))
        for secret in secrets { hide(secret, in: &bytes) }
        // Direction overrides and other invisible characters could make a journal line read as something else.
        let shown = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar -> Character in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: " "
            default: Character(scalar)
            }
        }
        let words = shown.split(separator: " ").map { String($0) }
        let line = words.joined(separator: " ")
        return line.isEmpty ? nil : String(line.prefix(limit))
    }

    /// Replaces each place where `secret` stands in `bytes`.
    ///
    /// Windows of the text are compared as secrets, so that looking for a token does not open it.
    private static func hide(_ secret: Secret, in bytes: inout [UInt8]) {
        guard !secret.isEmpty, secret.count <= bytes.count else { return }
        var start = 0
        while start + secret.count <= bytes.count {
            let window = start..<(start + secret.count)
            if Secret(bytes[window]) == secret {
                bytes.replaceSubrange(window, with: "<redacted>".utf8)
                start += "<redacted>".utf8.count
            } else {
                start += 1
            }
        }
    }
}
