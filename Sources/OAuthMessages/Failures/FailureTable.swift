package import RefreshCore

/// Decides what a failed refresh means, from all that is known about it. An ordered list: the first row that fits
/// decides.
///
/// Only an answer of the authorization server itself reaches the classes that can end a grant. Rows about the
/// transport, about proxies and about pages for people stand before or after the rows about error codes, and never
/// share a class with them.
package struct FailureTable: Sendable {
    let rows: [FailureRow]

    /// The rows of `FailureTable+Rows.swift`.
    package static let standard = FailureTable(rows: standardRows)

    /// The row that decides. The last row of `standard` fits every signal.
    package func row(for signal: FailureSignal) -> FailureRow {
        rows.first { $0.condition.fits(signal) } ?? FailureTable.anythingElse
    }

    /// What the row for one of `codes` says about who can help; nil if no row says that. The codes are an answer's
    /// `error`, sub-error and provider's code, in any case.
    ///
    /// - Parameter isRefresh: whether it was the answer to a refresh. At a sign-in, `access_denied` is the person's "no".
    package func remedy(for codes: [String?], isRefresh: Bool = true) -> Remedy? {
        let codes = Set(codes.compactMap { $0?.lowercased() })
        return rows.first { row in
            row.remedy != nil && (isRefresh || row.condition.sign != .refreshDenied) && row.names(oneOf: codes)
        }?.remedy
    }

    package static let anythingElse = FailureRow(
        "anything else",
        Condition(),
        .unavailable,
        "the server's answer is not that of a token endpoint"
    )
}

/// One rule: a condition, and the class and text for it.
package struct FailureRow: Hashable, Sendable {
    /// The name by which tests refer to the row.
    let name: String
    let condition: Condition
    package let failureClass: FailureClass
    /// The text for people, a constant; see `FailureDetail.summary`.
    package let summary: String
    package let consequence: Consequence?
    /// Who can help; nil if the class alone says that.
    package let remedy: Remedy?

    init(
        _ name: String,
        _ condition: Condition,
        _ failureClass: FailureClass,
        _ summary: String,
        _ consequence: Consequence? = nil,
        remedy: Remedy? = nil
    ) {
        self.name = name
        self.condition = condition
        self.failureClass = failureClass
        self.summary = summary
        self.consequence = consequence
        self.remedy = remedy
    }

    func names(oneOf codes: Set<String>) -> Bool { condition.anyCode.map { !$0.isDisjoint(with: codes) } ?? false }

    /// What this module itself does after the failure.
    package enum Consequence: Sendable {
        /// Fetch the metadata again before the next request, because the endpoint may have moved.
        case forgetMetadata
        /// Try other forms of the credentials, because the server does not know this client.
        case tryOtherCredentials
        /// Try the other form of the secret or of the assertion: the server may mean the client or the grant.
        case tryOtherSecretForm
    }
}

/// What an endpoint is for, in texts about its answers.
package enum EndpointRole: Sendable, CaseIterable {
    case token, revocation, deviceAuthorization, pushedRequest, registration

    package var name: String {
        switch self {
        case .token: "token endpoint"
        case .revocation: "revocation endpoint"
        case .deviceAuthorization: "device authorization endpoint"
        case .pushedRequest: "pushed authorization request endpoint"
        case .registration: "registration endpoint"
        }
    }

    /// What its answers bring.
    fileprivate var product: String {
        switch self {
        case .token: "access token"
        case .revocation: "confirmation"
        case .deviceAuthorization: "code"
        case .pushedRequest: "request URI"
        case .registration: "client id"
        }
    }
}

extension FailureRow {
    /// The row with the text about an endpoint of `role`. The table's texts are about the token endpoint.
    package func told(of role: EndpointRole) -> FailureRow {
        let text = summary.replacing("token endpoint", with: role.name)
            .replacing("an access token", with: "a \(role.product)").replacing("access token", with: role.product)
        return role == .token ? self : FailureRow(name, condition, failureClass, text, consequence, remedy: remedy)
    }
}

/// The condition of a row. A part that is nil fits everything.
struct Condition: Hashable, Sendable {
    var transport: Set<TransportCause>?
    var wasSent: Bool?
    var status: [ClosedRange<Int>]?
    var body: Set<BodyKind>?
    var error: Set<String>?
    var hasError: Bool?
    /// Fits if the answer's `error`, or one of its more specific codes, is among these.
    var anyCode: Set<String>?
    var sign: FailureSign?

    func fits(_ signal: FailureSignal) -> Bool {
        // A row about answers never fits an exchange without an answer, and a row about the transport never fits an
        // answer.
        let isAboutTransport = transport != nil || wasSent != nil
        let isAboutAnswers = status != nil || body != nil || error != nil || hasError != nil || anyCode != nil
        if isAboutTransport, signal.transport == nil { return false }
        if isAboutAnswers, signal.transport != nil { return false }
        return isMet(transport) { wanted in signal.transport.map(wanted.contains) ?? false }
            && isMet(wasSent) { $0 == signal.wasSent }
            && isMet(status) { ranges in
                signal.status.map { status in ranges.contains { $0.contains(status) } } ?? false
            }
            && isMet(body) { $0.contains(signal.body) }
            && isMet(error) { wanted in signal.error.map(wanted.contains) ?? false }
            && isMet(hasError) { $0 == (signal.error != nil) }
            && isMet(anyCode) { wanted in
                signal.error.map(wanted.contains) ?? false || !wanted.isDisjoint(with: signal.codes)
            }
            && isMet(sign) { signal.signs.contains($0) }
    }

    private func isMet<Part>(_ part: Part?, _ test: (Part) -> Bool) -> Bool {
        part.map(test) ?? true
    }
}

/// Why no answer came.
package enum TransportCause: String, Hashable, Sendable, CaseIterable {
    case nameResolution
    case connection
    /// The TLS handshake failed, but not because of the certificate.
    case tls
    /// The server and this machine have no version of TLS in common.
    case tlsProtocol
    /// The certificate is not trusted, and why is not known.
    case certificate
    case certificateExpired
    case certificateNotYetValid
    /// The certificate is for another host.
    case certificateHost
    /// No authority that is trusted here has signed the certificate.
    case certificateAuthority
    /// The server demands a client certificate. With TLS 1.3, it says so only after the request was sent.
    case clientCertificateDemanded
    /// The proxy's name could not be resolved.
    case proxyNameResolution
    /// No connection to the proxy could be made.
    case proxyConnection
    /// The proxy asks for credentials (407).
    case proxySignIn
    /// The proxy did not open the connection.
    case proxyRefused
    /// The configured proxy is of a kind that is not supported, or is malformed.
    case proxyConfiguration
    /// A part of the request cannot be sent: a header's value has a line break.
    case requestRefused
    /// The configured CA file cannot be read.
    case authorityFile
    /// The configured CA file could not be read in time.
    case authorityFileHangs
    /// The client's key cannot be read, or cannot sign with an algorithm that the server accepts.
    case clientKey
    /// The file with the client's assertion cannot be read, or holds no signed token.
    case assertionFile
    /// The file with the client's assertion could not be read in time.
    case assertionFileHangs
    /// The assertion in the file has expired.
    case assertionExpired
    /// The method needs a certificate, and the client's key comes without one.
    case clientCertificate
    case timeLimit
    /// The connection ended before the whole answer had come.
    case connectionLost
    case other
}

/// An exchange without an answer, and why.
package struct TransportFailure: Error, Sendable {
    package let cause: TransportCause
    /// Whether any of the request's body was handed to the connection. False only if it certainly was not.
    package let wasSent: Bool

    package init(cause: TransportCause, wasSent: Bool) {
        self.cause = cause
        self.wasSent = wasSent
    }
}

/// All that is known about one failed exchange; the table's input.
package struct FailureSignal: Sendable {
    /// Why no answer came; nil if one did.
    package var transport: TransportCause?
    /// Whether any part of the body, which holds the refresh token, was handed to the connection.
    package var wasSent = true
    package var status: Int?
    package var body = BodyKind.empty
    /// The answer's `error` in lower case; nil if it has none.
    package var error: String?
    /// Sub-errors and the provider's own codes, in lower case.
    package var codes: Set<String> = []
    package var signs: Set<FailureSign> = []
}

/// A circumstance that some rows require.
package enum FailureSign: String, Hashable, Sendable, CaseIterable {
    case retryAfter
    /// The answer's `Location` leads to another host.
    case redirectElsewhere
    /// The answer carries a claims challenge (Entra).
    case claimsChallenge
    /// The same form of request was answered with tokens before.
    case workedBefore
    /// The request held a DPoP proof (RFC 9449 §5).
    case showedProof
    /// The description says that the refresh token is dead.
    case refreshTokenCalledDead
    /// The answer is to a refresh. With 401 it counts only if its description names a policy: others deny a client so
    /// (Atlassian).
    case refreshDenied
    /// The provider's profile describes this answer as the end of a grant.
    case grantEnded
    /// The answer has only the field `message`. No authorization server's error has it alone, but those of AWS and
    /// other gateways do.
    case gatewayMessage
    /// The answer asks for the client's credentials: `WWW-Authenticate: Basic` (RFC 6749 §5.2).
    case clientChallenge
    /// This machine's clock shows a time before this program was written, at which no certificate can be valid.
    case implausibleClock
}

extension FailureSignal {
    /// The signal of an answer.
    package init(
        _ answer: Answer,
        _ body: AnswerBody,
        from endpoint: Endpoint,
        profile: ProviderProfile? = nil,
        workedBefore: Bool,
        isRefresh: Bool = false
    ) {
        let reading = ErrorReading(body.fields)
        status = answer.status
        self.body = body.kind
        error = reading.error?.lowercased()
        // Twitch gives its code only in "message". It is compared as a whole, like a code.
        let stated = [reading.subError, reading.providerCode, reading.message] + reading.microsoftCodes
        codes = Set(stated.compactMap { $0?.lowercased() })
        if reading.hasClaimsChallenge { signs.insert(.claimsChallenge) }
        if answer.headers.contains(name: "retry-after") { signs.insert(.retryAfter) }
        if answer.isRedirect(awayFrom: endpoint) { signs.insert(.redirectElsewhere) }
        if answer.challenges.contains(where: { $0.scheme == "basic" }) { signs.insert(.clientChallenge) }
        if workedBefore { signs.insert(.workedBefore) }
        let namesPolicy = reading.description?.lowercased().contains("policy") ?? false
        if isRefresh, answer.status != 401 || namesPolicy { signs.insert(.refreshDenied) }
        if reading.callsRefreshTokenDead { signs.insert(.refreshTokenCalledDead) }
        let isNamed = profile?.grantEnded.contains { $0.fits(answer, body, workedBefore: workedBefore) } ?? false
        if isNamed { signs.insert(.grantEnded) }
        if error == nil, reading.providerCode == nil, reading.message != nil, body.fields["errors"] == nil {
            signs.insert(.gatewayMessage)
        }
    }

    /// The signal of an exchange without an answer.
    package init(_ failure: TransportFailure, now: Timestamp) {
        transport = failure.cause
        wasSent = failure.wasSent
        if now < Self.oldestPlausibleTime { signs.insert(.implausibleClock) }
    }

    /// 2026-01-01: this program did not exist before. The clock of a board without a battery starts in 1970, and NTP
    /// sets it later.
    private static let oldestPlausibleTime = Timestamp(microseconds: 1_767_225_600_000_000)
}

/// The error fields of an answer, under the names that servers use for them.
package struct ErrorReading {
    package var error: String?
    package var description: String?
    package var subError: String?
    package var providerCode: String?
    /// All of Entra's codes. The first one may be general, and a later one may name the cause.
    var microsoftCodes: [String]
    package var message: String?
    /// The claims challenge as the answer has it (Entra).
    package var claims: String?
    var hasClaimsChallenge: Bool { claims != nil }

    package init(_ fields: [String: JSONTree]) {
        // Facebook and the APIs of Google put an object under "error".
        let inner = fields["error"]?.fields ?? [:]
        // Fitbit, Strava and other APIs list the errors. The first one counts.
        let listed = fields["errors"]?.member("0")?.fields ?? [:]
        error =
            ErrorReading.word(["error"], in: fields) ?? ErrorReading.word(["status", "type", "code"], in: inner)
            ?? ErrorReading.word(["error", "errorType", "code", "errorCode"], in: listed)
        description =
            ErrorReading.word(["error_description", "errorSummary", "message", "error_message"], in: fields)
            ?? ErrorReading.word(["message"], in: inner)
            ?? ErrorReading.word(["error_description", "message", "detail"], in: listed)
        // Entra; Google.
        subError = ErrorReading.word(["suberror", "error_subtype"], in: fields)
        microsoftCodes = ErrorReading.microsoftCodes(fields, description: description)
        // The first one may be general.
        providerCode =
            microsoftCodes.first { code in FailureTable.entraRows.contains { $0.names(oneOf: [code.lowercased()]) } }
            ?? microsoftCodes.first
        message = fields["message"]?.text
        if providerCode == nil {
            // Okta; TikTok; HubSpot, whose "status" is the code if it is a word.
            providerCode =
                ErrorReading.word(["errorCode", "error_code"], in: fields)
                ?? ErrorReading.word(["status", "code"], in: fields.filter(ErrorReading.isWord))
        }
        if let claims = fields["claims"]?.text, !claims.isEmpty { self.claims = claims }
    }

    /// The longest claims that are accepted, in bytes. They become part of an address.
    private static let claimsLimit = 4096
    /// The most of Entra's codes that are read. Real answers have one or two.
    private static let codesLimit = 8

    /// `claims` if they are a JSON object, so that they can be requested; otherwise nil.
    package var demandedClaims: String? {
        guard let claims, claims.utf8.count <= Self.claimsLimit, JSONTree.object(in: Array(claims.utf8)) != nil else {
            return nil
        }
        return claims
    }

    /// Whether the description says that the refresh token is inactive or unknown: "Refresh token inactive" (idpyoidc).
    /// One that is missing or malformed is the request's fault.
    var callsRefreshTokenDead: Bool {
        guard let text = description?.lowercased(), text.contains(/refresh[ _-]?(token|session)/) else { return false }
        let isDead =
            text.contains(/\b(inactive|not (?:active|found|exist|valid)|unknown|expired|revoked|no longer)\b/)
            || text.contains(/\b(is invalid|invalid refresh|(already|been) (been )?(used|redeemed|consumed))/)
        return isDead && !text.contains(/\b(missing|required|parameter)\b/)
    }

    /// Whether a field holds a word. In the answers of many servers, "status" repeats the HTTP status.
    private static func isWord(_ field: (key: String, value: JSONTree)) -> Bool {
        field.value.text.map { Int($0) == nil } ?? false
    }

    /// The value of the first of `names` that has one, as text. `false`, 0 and the empty string count as no value,
    /// because they say that there is no error.
    private static func word(_ names: [String], in fields: [String: JSONTree]) -> String? {
        for name in names {
            switch fields[name] {
            case .string(let text) where !text.isEmpty: return text
            case .number(let number) where number != 0 && abs(number) < 1e15: return String(Int64(number))
            case .boolean(true): return "true"
            case .string, .number, .boolean, .null, .array, .object, nil: continue
            }
        }
        return nil
    }

    /// Entra's codes: `AADSTS70043` from its list of numbers, or a code such as B2C's `AADB2C90080` from the beginning
    /// of the description.
    private static func microsoftCodes(_ fields: [String: JSONTree], description: String?) -> [String] {
        if case .array(let codes)? = fields["error_codes"] {
            let stated = codes.prefix(codesLimit).compactMap(\.word).filter { Int($0) != nil }
            if !stated.isEmpty { return stated.map { "AADSTS" + $0 } }
        }
        return description.flatMap(microsoftCode(beginning:)).map { [$0] } ?? []
    }

    /// The code of Entra or B2C with which a description begins. An error that comes through a browser has it there
    /// only.
    package static func microsoftCode(beginning description: String) -> String? {
        let front = description.prefix { $0 != ":" && $0 != " " }
        let isCode = ["AADSTS", "AADB2C"].contains { front.hasPrefix($0) } && Int(front.dropFirst(6)) != nil
        return isCode ? String(front) : nil
    }
}
