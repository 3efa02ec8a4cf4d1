/// Something that goes wrong with one request to the token endpoint, as scripted by a test.
///
/// What matters about a fault is whether the grant was touched before the client lost sight of the answer: `cutAfter`,
/// `delayAfter` and `replaceAnswer` use the refresh token up, and the client cannot know.
package enum Fault: Sendable, Equatable {
    /// Answers in place of the endpoint; the grant is not touched.
    case answer(CannedAnswer)
    /// Serves the request, and sends this in place of the answer, as a proxy that gives up too early does.
    case replaceAnswer(CannedAnswer)
    /// Waits, then serves. A client that hangs up meanwhile is not served.
    case delayBefore(Duration)
    /// Serves at once, and answers late.
    case delayAfter(Duration)
    /// Closes the connection; the grant is not touched.
    case cutBefore
    /// Serves, then closes the connection: the answer is lost.
    case cutAfter
    /// Serves, and closes the connection half-way through the answer's body.
    case truncate
    /// Serves, and resets the connection half-way through the answer's body, as a server does that is killed.
    case reset
    /// Serves, and sends the answer twice for one request.
    case double
    /// Serves, and states this as the access token's `expires_in`: JSON text, which need not be a number.
    case expiresIn(String)
    /// Closes the connection if an earlier request came by it; the grant is not touched. A request on a new one is served.
    ///
    /// It stands for a server that ends an idle connection at the moment at which its client sends the next request.
    case cutReused
    /// Serves, and sends the answer's body a byte at a time with this pause after each.
    case drip(Duration)
    /// Sends a body of this many bytes that begins like a token answer; the grant is not touched.
    case huge(byteCount: Int)
    /// Sends such a body without an end; the grant is not touched.
    case endless

    /// The fault as the shell carries it out, in the order of these properties.
    struct Plan {
        var delayBefore: Duration = .zero
        /// Whether the request reaches the ledger.
        var isServed = true
        /// Sent in place of what the endpoint answers.
        var replacement: Answer?
        /// JSON text in place of the number in `expires_in`.
        var expiresIn: String?
        var delayAfter: Duration = .zero
        var delivery: Delivery = .whole
    }

    /// - Parameter isReused: whether the request came by a connection that had served another.
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

/// How an answer leaves the server.
enum Delivery: Equatable {
    case whole
    /// The connection is closed and nothing is sent.
    case cut
    /// The head promises the whole body, half of it is sent, and the connection is closed.
    case truncated
    /// As `truncated`, but the connection is reset.
    case reset
    /// The whole answer, and the same bytes once more.
    case doubled
    /// One byte of the body, this pause, the next byte.
    case drip(Duration)
}

/// An answer written down beforehand.
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

    /// An OAuth error (RFC 6749 §5.2) that the server does not mean: the grant stands.
    package static func oauthError(_ code: String, status: Int = 400) -> CannedAnswer {
        CannedAnswer(
            status: status,
            headers: ["Content-Type": "application/json"],
            body: #"{"error":"\#(code)"}"#
        )
    }

    /// A refusal for now; `retryAfterSeconds` is sent as `Retry-After` (RFC 9110 §10.2.3).
    package static func unavailable(status: Int = 503, retryAfterSeconds: Int? = nil) -> CannedAnswer {
        CannedAnswer(status: status, headers: retryAfterSeconds.map { ["Retry-After": String($0)] } ?? [:])
    }

    /// What a captive portal or a proxy's error page looks like.
    package static func html(status: Int = 200) -> CannedAnswer {
        CannedAnswer(
            status: status,
            headers: ["Content-Type": "text/html; charset=utf-8"],
            body: "<!doctype html><title>Welcome</title><p>Accept the terms to go online.</p>"
        )
    }

    /// 200, marked as JSON, and none.
    package static let junk = CannedAnswer(
        status: 200,
        headers: ["Content-Type": "application/json"],
        body: "\u{1}\u{2}{\"access_token\":"
    )

    /// 200 and no body at all.
    package static let empty = CannedAnswer(status: 200, headers: ["Content-Type": "application/json"])

    var answer: Answer {
        Answer(status: status, headers: headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, text: body)
    }
}
