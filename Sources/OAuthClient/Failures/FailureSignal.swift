import NIOHTTP1
import RefreshCore

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
