/// A scripted failure of one request to the token endpoint.
///
/// Faults differ in whether they use up the refresh token before the client loses the answer. `cutAfter`, `delayAfter`
/// and `replaceAnswer` do, and the client cannot know that.
package struct Fault: Sendable, CustomStringConvertible {
    /// The name in the request log and in the administration interface.
    package let name: String
    // The steps of a request, in the order of these properties.
    var delayBefore: Duration = .zero
    /// Whether the request reaches the ledger.
    var isServed = true
    /// The answer that is sent instead of the endpoint's.
    var replacement: Answer?
    /// JSON text instead of the number in `expires_in`.
    var expiresIn: String?
    var delayAfter: Duration = .zero
    var delivery = Delivery.whole

    package var description: String { name }

    static let none = Fault(name: "none")

    /// Answers instead of the endpoint. The grant is not touched.
    package static func answer(_ canned: CannedAnswer) -> Fault {
        Fault(name: "answer", isServed: false, replacement: canned.answer)
    }

    /// Serves the request, but sends this answer instead, like a proxy that gives up too early.
    package static func replaceAnswer(_ canned: CannedAnswer) -> Fault {
        Fault(name: "replace-answer", replacement: canned.answer)
    }

    /// Waits, then serves. A client that hangs up in the meantime is not served.
    package static func delayBefore(_ delay: Duration) -> Fault { Fault(name: "delay-before", delayBefore: delay) }

    /// Serves at once and answers late.
    package static func delayAfter(_ delay: Duration) -> Fault { Fault(name: "delay-after", delayAfter: delay) }

    /// Closes the connection. The grant is not touched.
    package static let cutBefore = Fault(name: "cut-before", isServed: false, delivery: .cut)

    /// Serves, then closes the connection. The answer is lost.
    package static let cutAfter = Fault(name: "cut-after", delivery: .cut)

    /// Serves, then closes the connection in the middle of the answer's body.
    package static let truncate = Fault(name: "truncate", delivery: .truncated)

    /// Serves, then resets the connection in the middle of the answer's body, like a server that is killed.
    package static let reset = Fault(name: "reset", delivery: .reset)

    /// Serves, and sends the answer twice for one request.
    package static let double = Fault(name: "double", delivery: .doubled)

    /// Serves, with this as the access token's `expires_in`: JSON text, which need not be a number.
    package static func expiresIn(_ json: String) -> Fault { Fault(name: "expires-in", expiresIn: json) }

    /// Closes the connection if it has served a request before; the grant is not touched. A request on a new connection
    /// is served.
    ///
    /// It simulates a server that closes an idle connection just when the client sends its next request.
    package static let cutReused = Fault(name: "cut-reused", isServed: false, delivery: .cut)

    /// Serves, and sends the answer's body byte by byte with this pause after each byte.
    package static func drip(_ pause: Duration) -> Fault { Fault(name: "drip", delivery: .drip(pause)) }

    /// Sends a body of this many bytes that begins like a token answer. The grant is not touched.
    package static func huge(byteCount: Int) -> Fault {
        Fault(name: "huge", isServed: false, replacement: .huge(byteCount: byteCount))
    }

    /// Sends such a body without an end. The grant is not touched.
    package static let endless = Fault(name: "endless", isServed: false, replacement: .endless)
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
