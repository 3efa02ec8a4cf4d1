import RefreshCore

/// From everything that can be seen of a failed refresh to what it means: an ordered list, the first row that fits
/// decides.
///
/// Only an answer of the authorization server itself reaches the classes that can end a grant: rows about the
/// transport, about proxies and about pages for people come before or after those about error codes and never share a
/// class with them.
struct FailureTable: Sendable {
    let rows: [FailureRow]

    /// The rows of `FailureTable+Rows.swift`.
    static let standard = FailureTable(rows: standardRows)

    /// The row that decides; the last row of `standard` fits everything.
    func row(for signal: FailureSignal) -> FailureRow {
        rows.first { $0.condition.fits(signal) } ?? FailureTable.anythingElse
    }

    static let anythingElse = FailureRow(
        "anything else",
        Condition(),
        .unavailable,
        "the server's answer is not that of a token endpoint"
    )
}

/// One rule.
struct FailureRow: Sendable {
    /// What the row is about; tests refer to it.
    let name: String
    let condition: Condition
    let failureClass: FailureClass
    /// Constant text for people; see `FailureDetail.summary`.
    let summary: String
    let consequence: Consequence?

    init(
        _ name: String,
        _ condition: Condition,
        _ failureClass: FailureClass,
        _ summary: String,
        _ consequence: Consequence? = nil
    ) {
        self.name = name
        self.condition = condition
        self.failureClass = failureClass
        self.summary = summary
        self.consequence = consequence
    }

    /// What this module itself does about it.
    enum Consequence: Sendable {
        /// The metadata is fetched again before the next request: the endpoint may have moved.
        case forgetMetadata
        /// The server does not know this client: other forms of the credentials are tried.
        case tryOtherCredentials
        /// The server may mean the client or the grant: the other form of the secret, or of an assertion, is tried.
        case tryOtherSecretForm
    }
}

/// What a row asks for; a nil part asks for nothing.
struct Condition: Sendable {
    var transport: Set<TransportCause>?
    var wasSent: Bool?
    var status: [ClosedRange<Int>]?
    var body: Set<BodyKind>?
    var error: Set<String>?
    var hasError: Bool?
    /// Fits if the answer's `error` or one of its finer codes is among these.
    var anyCode: Set<String>?
    var sign: FailureSign?

    func fits(_ signal: FailureSignal) -> Bool {
        // A row about answers never fits a lost one, and the other way round.
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

/// What went wrong on the way to an answer.
enum TransportCause: String, Hashable, Sendable, CaseIterable {
    case nameResolution
    case connection
    /// The TLS handshake failed for another reason than the certificate.
    case tls
    case certificate
    /// The proxy asks for credentials (407).
    case proxySignIn
    /// The proxy did not open the connection.
    case proxyRefused
    /// `HTTPS_PROXY` names a proxy of a kind that is not supported, or is malformed.
    case proxyConfiguration
    /// The configured CA file cannot be read.
    case authorityFile
    /// The configured CA file could not be read in time.
    case authorityFileHangs
    /// The client's key cannot be read, or cannot sign what the server takes.
    case clientKey
    /// The client's key comes without the certificate that the method needs.
    case clientCertificate
    case timeLimit
    /// The connection ended in the middle.
    case connectionLost
    case other
}

/// An exchange that gave no answer.
struct TransportFailure: Error, Sendable {
    let cause: TransportCause
    /// Whether any of the request's body was handed to the connection; false only if that is certain.
    let wasSent: Bool
}

/// What the table judges: everything that is known about one failed exchange.
struct FailureSignal: Sendable {
    /// Nil if an answer arrived.
    var transport: TransportCause?
    /// Whether any part of the body, which holds the refresh token, was handed to the connection.
    var wasSent = true
    var status: Int?
    var body = BodyKind.empty
    /// `error` in lower case; nil if the answer has none.
    var error: String?
    /// Sub-errors and a provider's own codes, in lower case.
    var codes: Set<String> = []
    var signs: Set<FailureSign> = []
}

/// A circumstance that some rows ask for.
enum FailureSign: String, Hashable, Sendable, CaseIterable {
    case retryAfter
    /// `Location` leads to another host.
    case redirectElsewhere
    /// The answer carries a claims challenge (Entra).
    case claimsChallenge
    /// The same form of request was answered with tokens before.
    case workedBefore
    /// The request held a DPoP proof (RFC 9449 §5).
    case showedProof
    /// The provider's profile names this answer as the end of a grant.
    case grantEnded
    /// All that it says is in `message`, which no authorization server's error has alone: AWS's and other gateways' do.
    case gatewayMessage
    /// This machine's clock shows a time before this program was written: no certificate can be valid then.
    case implausibleClock
}

extension FailureSignal {
    /// What an answer shows.
    init(
        _ answer: Answer,
        _ body: AnswerBody,
        from endpoint: Endpoint,
        profile: ProviderProfile? = nil,
        workedBefore: Bool
    ) {
        let reading = ErrorReading(body.fields)
        status = answer.status
        self.body = body.kind
        error = reading.error?.lowercased()
        // Twitch says it in "message" only; compared whole, like a code.
        codes = Set([reading.subError, reading.providerCode, reading.message].compactMap { $0?.lowercased() })
        if reading.hasClaimsChallenge { signs.insert(.claimsChallenge) }
        if answer.headers.contains(name: "retry-after") { signs.insert(.retryAfter) }
        if answer.isRedirect(awayFrom: endpoint) { signs.insert(.redirectElsewhere) }
        if workedBefore { signs.insert(.workedBefore) }
        let isNamed = profile?.grantEnded.contains { $0.fits(answer, body, workedBefore: workedBefore) } ?? false
        if isNamed { signs.insert(.grantEnded) }
        if error == nil, reading.providerCode == nil, reading.message != nil, body.fields["errors"] == nil {
            signs.insert(.gatewayMessage)
        }
    }

    /// What an exchange without an answer shows.
    init(_ failure: TransportFailure, now: Timestamp) {
        transport = failure.cause
        wasSent = failure.wasSent
        if now < Self.oldestPlausibleTime { signs.insert(.implausibleClock) }
    }

    /// 2026-01-01: this program did not exist before. A board without a battery starts in 1970 and is set right by NTP
    /// later.
    private static let oldestPlausibleTime = Timestamp(microseconds: 1_767_225_600_000_000)
}

/// The error fields of an answer, under the names that servers use for them.
struct ErrorReading {
    var error: String?
    var description: String?
    var subError: String?
    var providerCode: String?
    var message: String?
    /// What a claims challenge asks for, as it came (Entra).
    var claims: String?
    var hasClaimsChallenge: Bool { claims != nil }

    init(_ fields: [String: JSONValue]) {
        // Facebook and Google's APIs put an object under "error".
        let inner = fields["error"]?.fields ?? [:]
        error = ErrorReading.word(["error"], in: fields) ?? ErrorReading.word(["status", "type", "code"], in: inner)
        description =
            ErrorReading.word(["error_description", "errorSummary", "message", "error_message"], in: fields)
            ?? ErrorReading.word(["message"], in: inner)
        // Entra; Google.
        subError = ErrorReading.word(["suberror", "error_subtype"], in: fields)
        providerCode = ErrorReading.microsoftCode(fields, description: description)
        message = fields["message"]?.text
        if providerCode == nil {
            // Okta; TikTok; HubSpot, whose "status" is the code when it is a word.
            providerCode =
                ErrorReading.word(["errorCode", "error_code"], in: fields)
                ?? ErrorReading.word(["status", "code"], in: fields.filter(ErrorReading.isWord))
        }
        if let claims = fields["claims"]?.text, !claims.isEmpty { self.claims = claims }
    }

    /// Longest claims that are asked for, in bytes: they go into an address.
    private static let claimsLimit = 4096

    /// `claims`, if they can be asked for: a JSON object.
    var demandedClaims: String? {
        guard let claims, claims.utf8.count <= Self.claimsLimit, JSONValue.object(in: Array(claims.utf8)) != nil else {
            return nil
        }
        return claims
    }

    /// Whether a field holds a word: "status" is the HTTP status again for many servers.
    private static func isWord(_ field: (key: String, value: JSONValue)) -> Bool {
        field.value.text.map { Int($0) == nil } ?? false
    }

    /// The first of `names` with a value, as text; `false`, 0 and the empty string say that there is no error.
    private static func word(_ names: [String], in fields: [String: JSONValue]) -> String? {
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

    /// `AADSTS70043` from Entra's list of numbers, or from the front of the description, where B2C has its
    /// `AADB2C90080`.
    private static func microsoftCode(_ fields: [String: JSONValue], description: String?) -> String? {
        if case .array(let codes)? = fields["error_codes"], case .number(let code)? = codes.first, abs(code) < 1e15 {
            return "AADSTS\(Int64(code))"
        }
        guard let front = description?.prefix(while: { $0 != ":" && $0 != " " }) else { return nil }
        for family in ["AADSTS", "AADB2C"] where front.hasPrefix(family) && Int(front.dropFirst(6)) != nil {
            return String(front)
        }
        return nil
    }
}
