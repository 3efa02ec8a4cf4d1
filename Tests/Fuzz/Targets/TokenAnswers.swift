@testable internal import OAuthMessages
internal import RefreshCore

/// Answers of a token endpoint: tokens or errors.
///
/// The first byte of an input is the status, the first line is `Retry-After`, the second is `Date`, and the rest is the
/// body.
enum TokenAnswers {
    private static let statuses = [200, 400, 401, 403, 404, 407, 429, 302, 500, 502, 503, 524, 201, 410]
    private static let now = Timestamp(microseconds: 1_800_000_000_000_000)
    private static let sent = RefreshToken(Secret("sent"))

    static func run(_ input: [UInt8]) {
        var rest = input
        let status = statuses[rest.takeByte() % statuses.count]
        let headers: HeaderFields = [
            "retry-after": String(decoding: rest.takeLine(), as: UTF8.self),
            "date": String(decoding: rest.takeLine(), as: UTF8.self),
        ]
        let answer = Answer(status: status, headers: headers, body: rest)
        if let wait = answer.retryAfter(now: now) { require(wait >= .zero, "nobody is asked to come back in the past") }
        let body = AnswerBody(answer)
        require(body.kind == .fields || body.fields.isEmpty, "only a body of fields has any")
        checkEncoding(body.fields)
        checkTokens(body, answer, profile: nil)
        checkTokens(body, answer, profile: profile)
        checkFailure(body, answer)
    }

    /// A profile whose tokens are in another place, and whose scopes have another form.
    private static let profile: ProviderProfile = {
        var profile = ProviderProfile(name: "sample")
        profile.tokenPath = ["authed_user"]
        profile.scopeSeparator = ","
        return profile
    }()

    /// A parsed value can be written, and parses to the same value again.
    private static func checkEncoding(_ fields: [String: JSONTree]) {
        guard !fields.isEmpty else { return }
        let written = JSONTree.object(fields).bytes
        require(JSONTree.object(in: written) == fields, "an answer reads the same when it was written")
    }

    private static func checkTokens(_ body: AnswerBody, _ answer: Answer, profile: ProviderProfile?) {
        let decoder = TokenResponseDecoder(sent: sent, profile: profile, now: now)
        let response = decoder.decode(body.fields)
        require(
            decoder.takes(body.fields) == (response != nil),
            "an answer is taken for a success if its tokens can be had"
        )
        guard let response else { return }
        // Each byte that is not UTF-8 becomes three.
        let most = answer.body.count * 3
        if let token = response.accessToken {
            require((1...most).contains(token.secret.count), "a token comes out of its answer")
        }
        require((response.accessToken == nil) == (response.issuance.flaw != nil), "a token that is not used has a flaw")
        require(
            response.accessToken != nil || response.refreshToken != nil || response.issuance.flaw == .unsendable,
            "an answer has tokens"
        )
        if let token = response.refreshToken {
            require((1...most).contains(token.secret.count), "a refresh token comes out of its answer")
            require(token != sent, "the token that was sent is no new one")
        }
        require(response.issuance.isRotated == (response.refreshToken != nil), "rotated is what has a new token")
        check(response.issuance)
        require(response.scopes.map { !$0.isEmpty && !$0.contains("") } ?? true, "scopes are words")
    }

    private static func check(_ issuance: Issuance) {
        let year = Duration.seconds(365 * 86_400)
        if let lifetime = issuance.lifetime {
            // Some servers send this for a token that has expired.
            let isPossible = lifetime == .zero || lifetime >= .seconds(1)
            require(isPossible && lifetime <= year, "a token has ended, or lives a second to a year")
        }
        if let refreshIn = issuance.refreshIn {
            require(refreshIn >= .seconds(1) && refreshIn <= year, "the wish for a refresh lies in a year")
            require(issuance.lifetime.map { refreshIn < $0 } ?? true, "the wish for a refresh lies before the end")
        }
        if let lifetime = issuance.refreshTokenLifetime {
            require(lifetime >= .seconds(1) && lifetime <= year * 10, "a refresh token lives a second to ten years")
        }
    }

    /// DESIGN §6.5: only the authorization server ends a grant, and only by its own error.
    private static func checkFailure(_ body: AnswerBody, _ answer: Answer) {
        guard let endpoint = Endpoint("https://op.example.org/token") else { return }
        for workedBefore in [false, true] {
            let signal = FailureSignal(answer, body, from: endpoint, workedBefore: workedBefore)
            let row = FailureTable.standard.row(for: signal)
            switch row.failureClass {
            case .grantEnded, .userRequired, .refusedHere:
                require(body.kind == .fields, "only fields end a grant")
                require(signal.error != nil || !signal.codes.isEmpty, "only a code ends a grant")
                require(
                    (200...299).contains(answer.status) || (400...499).contains(answer.status),
                    "no 5xx ends a grant"
                )
                require(![407, 408, 429].contains(answer.status), "no proxy and no limit of a rate ends a grant")
            case .rejected:
                require(answer.status < 500 && body.kind != .html, "only the server itself refuses")
            case .refusedByGateway:
                require(answer.status < 500, "a failing server refuses nothing")
            case .unreachable, .unanswered, .unavailable, .misconfigured, .untrusted: break
            }
        }
        let reading = ErrorReading(body.fields)
        for text in [reading.error, reading.description, reading.subError, reading.providerCode, reading.message] {
            guard let clean = FailureText.clean(text) else { continue }
            require(clean.count <= FailureText.limit, "what is shown is short")
            require(
                clean.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
                "what is shown has no controls"
            )
        }
        if let claims = reading.demandedClaims { require(claims.utf8.count <= 4096, "claims fit into an address") }
    }
}
