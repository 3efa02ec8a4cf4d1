/// A scripted failure of one request to the token endpoint.
///
/// Faults differ in whether they use up the refresh token before the client loses the answer. `cutAfter`, `delayAfter`
/// and `replaceAnswer` do, and the client cannot know that.
package enum Fault: Sendable, Equatable {
    /// Answers instead of the endpoint. The grant is not touched.
    case answer(CannedAnswer)
    /// Serves the request, but sends this answer instead, like a proxy that gives up too early.
    case replaceAnswer(CannedAnswer)
    /// Waits, then serves. A client that hangs up in the meantime is not served.
    case delayBefore(Duration)
    /// Serves at once and answers late.
    case delayAfter(Duration)
    /// Closes the connection. The grant is not touched.
    case cutBefore
    /// Serves, then closes the connection. The answer is lost.
    case cutAfter
    /// Serves, then closes the connection in the middle of the answer's body.
    case truncate
    /// Serves, then resets the connection in the middle of the answer's body, like a server that is killed.
    case reset
    /// Serves, and sends the answer twice for one request.
    case double
    /// Serves, with this as the access token's `expires_in`: JSON text, which need not be a number.
    case expiresIn(String)
    /// Closes the connection if it has served a request before; the grant is not touched. A request on a new connection
    /// is served.
    ///
    /// It simulates a server that closes an idle connection just when the client sends its next request.
    case cutReused
    /// Serves, and sends the answer's body byte by byte with this pause after each byte.
    case drip(Duration)
    /// Sends a body of this many bytes that begins like a token answer. The grant is not touched.
    case huge(byteCount: Int)
    /// Sends such a body without an end. The grant is not touched.
    case endless

    /// The steps of a fault, in the order of these properties.
    struct Plan {
        var delayBefore: Duration = .zero
        /// Whether the request reaches the ledger.
        var isServed = true
        /// The answer that is sent instead of the endpoint's.
        var replacement: Answer?
        /// JSON text instead of the number in `expires_in`.
        var expiresIn: String?
        var delayAfter: Duration = .zero
        var delivery: Delivery = .whole
    }

    /// The steps of this fault.
    ///
    /// - Parameter isReused: whether the connection has served a request before.
    func plan(isReused: Bool) -> Plan {
        switch self {
        case .answer(let canned): Plan(isServed: false, replacement: canned.answer)
        case .replaceAnswer(let canned): Plan(replacement: canned.answer)
        case .delayBefore(let delay): Plan(delayBefore: delay)
        case .delayAfter(let delay): Plan(delayAfter: delay)
        case .cutBefore: Plan(isServed: false, delivery: .cut)
        case .cutAfter: Plan(delivery: .cut)
        case .truncate: Plan(delivery: .truncated)
        case .drip(let pause): Plan(delivery: .drip(pause))
        case .reset: Plan(delivery: .reset)
        case .double: Plan(delivery: .doubled)
        case .expiresIn(let json): Plan(expiresIn: json)
        case .cutReused: isReused ? Plan(isServed: false, delivery: .cut) : Plan()
        case .huge(let byteCount): Plan(isServed: false, replacement: .huge(byteCount: byteCount))
        case .endless: Plan(isServed: false, replacement: .endless)
        }
    }

    /// The fault's name in the request log and in the administration interface.
    package var name: String {
        switch self {
        case .answer: "answer"
        case .replaceAnswer: "replace-answer"
        case .delayBefore: "delay-before"
        case .delayAfter: "delay-after"
        case .cutBefore: "cut-before"
        case .cutAfter: "cut-after"
        case .truncate: "truncate"
        case .drip: "drip"
        case .reset: "reset"
        case .double: "double"
        case .expiresIn: "expires-in"
        case .cutReused: "cut-reused"
        case .huge: "huge"
        case .endless: "endless"
        }
    }
}

/// How an answer is sent.
enum Delivery: Equatable {
    case whole
    /// Nothing is sent, and the connection is closed.
    case cut
    /// The head announces the whole body, half of it is sent, and the connection is closed.
    case truncated
    /// Like `truncated`, but the connection is reset.
    case reset
    /// The whole answer, and the same bytes once more.
    case doubled
    /// The body byte by byte, with this pause after each byte.
    case drip(Duration)
}

/// A prepared answer.
package struct CannedAnswer: Sendable, Equatable {
    /// HTTP status code, 100...599.
    package var status: Int
    package var headers: [String: String]
    package var body: String

    package init(status: Int, headers: [String: String] = [:], body: String = "") {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An OAuth error (RFC 6749 §5.2) that the server does not mean: the grant is still valid.
    package static func oauthError(_ code: String, status: Int = 400) -> CannedAnswer {
        CannedAnswer(
            status: status,
            headers: ["Content-Type": "application/json"],
            body: #"{"error":"\#(code)"}"#
        )
    }

    /// A temporary refusal. `retryAfterSeconds` is sent as `Retry-After` (RFC 9110 §10.2.3).
    package static func unavailable(status: Int = 503, retryAfterSeconds: Int? = nil) -> CannedAnswer {
        CannedAnswer(status: status, headers: retryAfterSeconds.map { ["Retry-After": String($0)] } ?? [:])
    }

    /// A page like those of captive portals and proxies.
    package static func html(status: Int = 200) -> CannedAnswer {
        CannedAnswer(
            status: status,
            headers: ["Content-Type": "text/html; charset=utf-8"],
            body: "<!doctype html><title>Welcome</title><p>Accept the terms to go online.</p>"
        )
    }

    /// Status 200 with a JSON content type and a body that is not JSON.
    package static let junk = CannedAnswer(
        status: 200,
        headers: ["Content-Type": "application/json"],
        body: "\u{1}\u{2}{\"access_token\":"
    )

    /// Status 200 without a body.
    package static let empty = CannedAnswer(status: 200, headers: ["Content-Type": "application/json"])

    var answer: Answer {
        Answer(status: status, headers: headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, text: body)
    }
}
