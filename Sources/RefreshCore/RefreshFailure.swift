/// Why a refresh failed: a class, which decides what happens next, and what is known about the cause.
///
/// Requests throw it. The machine gets it as an event.
package struct RefreshFailure: Error, Hashable, Sendable {
    package var failureClass: FailureClass
    package var detail: FailureDetail
    /// The wait from the server's `Retry-After` (RFC 9110 §10.2.3); nil if there was none. Never negative.
    package var retryAfter: Duration?

    package init(_ failureClass: FailureClass, detail: FailureDetail, retryAfter: Duration? = nil) {
        self.failureClass = failureClass
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// Whether the server, or something before it, refused the request. Otherwise this machine could not make it.
    var isRefusal: Bool { failureClass.isAboutGrant || detail.httpStatus != nil }

    /// This refusal as an outage, until it is believed (`BackOffRule.disbelief`).
    var asOutage: RefreshFailure {
        var failure = self
        failure.failureClass = .unavailable
        return failure
    }

    /// Whether the server wants fewer requests: 429 (RFC 6585 §4), or an unavailable server that states when to come
    /// back (RFC 9110 §10.2.3).
    package var isThrottled: Bool {
        detail.httpStatus == 429 || failureClass == .unavailable && retryAfter != nil
    }
}

/// What a failure means for the grant.
///
/// Only the last five can lead to *interaction required*, because only the authorization server can sign a user out.
package enum FailureClass: String, Hashable, Sendable, CaseIterable {
    /// The request never reached the authorization server (no route, DNS, refused connection, TLS not finished).
    case unreachable
    /// The request may have reached the server, but no answer arrived, or the answer was a server error (5xx) or a
    /// success without tokens. The refresh token may have been spent.
    case unanswered
    /// The server, or something in front of it, answered that it did not process the request (429, 503 with
    /// `Retry-After`, a page with an error status).
    case unavailable
    /// The server refuses the way we ask (`invalid_client`). Signing in would not help.
    case misconfigured
    /// The server's certificate is not trusted, so nothing was sent. A person corrects that, or signs in to a captive
    /// portal.
    case untrusted
    /// The authorization server refused without a reason that is about the grant. The daemon believes it after three
    /// equal refusals in ten minutes, and still tries again later.
    case rejected
    /// Something in front of the authorization server seems to have refused. The daemon believes it like `rejected`,
    /// but only after a day.
    case refusedByGateway
    /// The authorization server says that the grant has ended (`invalid_grant` or the provider's equivalent).
    case grantEnded
    /// The authorization server requires the user (`interaction_required`, `login_required`, `consent_required`,
    /// step-up).
    case userRequired
    /// An access policy keeps the user out at this place, or with this device as it is. Another network may help, and
    /// a sign-in here does not.
    case refusedHere

    /// What a failure is about. Code that treats several classes alike asks for this.
    package enum Subject: Sendable {
        /// The way to the server, or its health: waiting may help.
        case service
        /// How we ask: a person has to correct something that a sign-in does not correct. It is shown as
        /// *misconfigured*.
        case settings
        /// A person's grant, by a statement of the server.
        case grant
    }

    package var subject: Subject {
        switch self {
        case .unreachable, .unanswered, .unavailable: .service
        case .misconfigured, .untrusted: .settings
        case .rejected, .refusedByGateway, .grantEnded, .userRequired, .refusedHere: .grant
        }
    }

    package var isAboutGrant: Bool { subject == .grant }

    package var isMisconfiguration: Bool { subject == .settings }

    /// Whether the server has judged the request.
    package var isAnswer: Bool { subject != .service && self != .untrusted }
}

extension RefreshFailure {
    /// The text by which equal refusals are recognized.
    ///
    /// It leaves out the description, in which servers put the time and the number of the request.
    var refusalText: String {
        let detail = detail
        return [
            failureClass.rawValue, detail.httpStatus.map { "\($0)" }, detail.oauthError, detail.subError,
            detail.providerCode,
        ].map { $0 ?? "" }.joined(separator: " ")
    }
}

/// What is known about a failure, for people and programs. It contains no secret.
package struct FailureDetail: Hashable, Sendable {
    /// A constant phrase in lower case that says what failed, such as "the server could not be reached".
    package var summary: String
    /// The HTTP status, if there was an answer.
    package var httpStatus: Int?
    /// `error` (RFC 6749 §5.2), as the server gave it.
    package var oauthError: String?
    /// `error_description`, cut to 200 characters (see `FailureText`), control characters removed.
    package var oauthErrorDescription: String?
    /// The provider's more specific code besides `error`: Entra's `suberror`, Google's `error_subtype`.
    package var subError: String?
    /// A provider's own number or word: `AADSTS70043`.
    package var providerCode: String?
    /// Identifies the attempt in our journal, and in the provider's logs if the provider accepts it.
    package var correlationID: String?
    /// The account that caused the failure, because this account's token is derived from its token; nil if none did.
    package var source: AccountName?
    /// A specific problem that this client found itself; nil if there is none.
    package var finding: Finding?

    package enum Finding: String, Codable, Hashable, Sendable {
        /// The server has no device authorization endpoint (RFC 8628 §3.1), or does not publish one.
        case noDeviceEndpoint
        /// The ID token is missing or wrong.
        case badIDToken
        /// The server does not accept the client that it registered for the account.
        case clientForgotten
        /// The registration endpoint is a page for people. The description has its address.
        case registrationPage
        /// The file with the client's assertion is unusable, or the server does not accept the assertion in it.
        case clientAssertion
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

/// As the store has it.
extension FailureDetail: Codable {
    private enum CodingKeys: String, CodingKey {
        case summary, httpStatus
        case oauthError = "error"
        case oauthErrorDescription = "errorDescription"
        case subError, providerCode, correlationID, source, finding
    }
}

extension KeyedDecodingContainer {
    /// A finding that only a later version knows is none.
    fileprivate func decodeIfPresent(
        _: FailureDetail.Finding.Type,
        forKey key: Key
    ) throws -> FailureDetail.Finding? {
        try decodeIfPresent(String.self, forKey: key).flatMap(FailureDetail.Finding.init)
    }
}

extension FailureDetail {
    /// Whether the server does not know the client, or does not accept how it authenticates (RFC 6749 §5.2).
    package var deniesClient: Bool {
        switch oauthError?.lowercased() {
        case "invalid_client", "invalid_client_id": true
        // Keycloak's word for a client that it does not know, or for a wrong secret.
        case "unauthorized_client": httpStatus == 401
        case _: false
        }
    }

    /// Whether the server does not let the client use this grant (RFC 6749 §5.2), so that another one may do.
    package var forbidsGrantType: Bool {
        // With 401, it is Keycloak's word for a wrong secret.
        oauthError?.lowercased() == "unauthorized_client" && httpStatus != 401
    }
}

/// Makes text from a server safe for journals and terminals.
package enum FailureText {
    /// The longest text that is kept, in characters.
    package static let limit = 200
    /// The longest correlation id that is kept, in characters. A UUID has 36.
    private static let longestIdentifier = 64
    /// How much of a server's text is read, in bytes.
    private static let readLimit = 8192
    /// A secret with fewer bytes may be an ordinary word, or a part of many. "password" has eight.
    private static let shortestSecretToReplace = 8
    private static let redacted = "<redacted>"

    /// `text` without control characters and without `secrets`, cut to `limit` characters; nil if nothing is left.
    ///
    /// Where a secret stands, the text has a gap. A short secret could be read from the words around the gap
    /// ("inv<redacted>lid"), so a text that has one as a word is not shown at all.
    package static func clean(_ text: String?, hiding secrets: [Secret] = []) -> String? {
        guard let text else { return nil }
        var bytes = Array(text.utf8.prefix(readLimit))
        for secret in secrets where !secret.isEmpty {
            if secret.count >= shortestSecretToReplace {
                hide(secret, in: &bytes)
            } else if isWord(secret, in: bytes) {
                return redacted
            }
        }
        // Direction overrides and other invisible characters could change how a journal line reads.
        let shown = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar -> Character in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: " "
            default: Character(scalar)
            }
        }
        let words = shown.split(separator: " ").map { String($0) }
        let line = words.joined(separator: " ")
        return line.isEmpty ? nil : cut(line)
    }

    /// `line` cut to `limit` characters.
    ///
    /// Entra ends its long descriptions with the id by which an administrator finds the refusal. It is kept, and the
    /// text before it becomes shorter.
    private static func cut(_ line: String) -> String {
        let start = line.prefix(limit)
        guard let label = line.firstRange(of: "Correlation ID: ") else { return String(start) }
        let identifier = line[label.upperBound...].prefix { $0 != " " }
        guard identifier.endIndex > start.endIndex, identifier.count <= longestIdentifier else { return String(start) }
        let kept = "… " + line[label.lowerBound..<identifier.endIndex]
        return line[..<label.lowerBound].prefix(limit - kept.count) + kept
    }

    /// Replaces each occurrence of `secret` in `bytes`.
    ///
    /// It compares windows of the text as secrets, so that it need not reveal the token.
    private static func hide(_ secret: Secret, in bytes: inout [UInt8]) {
        var start = 0
        while start + secret.count <= bytes.count {
            let window = start..<(start + secret.count)
            if Secret(bytes[window]) == secret {
                bytes.replaceSubrange(window, with: redacted.utf8)
                start += redacted.utf8.count
            } else {
                start += 1
            }
        }
    }

    /// Whether `secret` stands in `bytes` with no letter, digit or underscore beside it. Inside a longer word it says
    /// nothing about the secret.
    private static func isWord(_ secret: Secret, in bytes: [UInt8]) -> Bool {
        guard secret.count <= bytes.count else { return false }
        return (0...(bytes.count - secret.count)).contains { start in
            let end = start + secret.count
            let neighbours = [bytes[..<start].last, bytes[end...].first].compactMap(\.self)
            return !neighbours.contains(where: isPartOfWord) && Secret(bytes[start..<end]) == secret
        }
    }

    /// Whether the byte is a letter, a digit, an underscore or a part of a character outside ASCII.
    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
