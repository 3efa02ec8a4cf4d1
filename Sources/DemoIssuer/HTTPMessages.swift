internal import FoundationEssentials
internal import NIOHTTP1
internal import TextEncodings

/// A complete request, for the endpoints.
struct Request {
    let method: HTTPMethod
    /// The path without the query.
    let path: String
    /// The part after the question mark, still encoded.
    let query: Substring
    private let headers: HTTPHeaders
    let body: [UInt8]
    /// Whether the connection has served a request before.
    let isReused: Bool

    init(_ head: HTTPRequestHead, body: [UInt8], isReused: Bool = false) {
        let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = head.method
        path = target.first.map(String.init) ?? "/"
        query = target.count > 1 ? target[1] : ""
        headers = head.headers
        self.body = body
        self.isReused = isReused
    }

    /// The credentials in `Authorization` after the scheme's name (RFC 9110 §11.4); nil for another scheme. Pass the
    /// scheme in lower case.
    func authorization(scheme: String) -> String? {
        guard let value = headers.first(name: "Authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
        return String(parts[1])
    }

    /// The access token in `Authorization`, bound to a key or not; nil if there is none.
    var accessToken: String? { authorization(scheme: "bearer") ?? authorization(scheme: "dpop") }

    /// Whether it has a DPoP proof (RFC 9449 §4.1). The proof itself is not checked here.
    var holdsProof: Bool { headers.contains(name: "DPoP") }
}

/// A response to send.
struct Answer {
    enum Body {
        case bytes([UInt8])
        /// The beginning of a JSON string, then filler up to this many bytes, or without an end if it is nil. It is
        /// never in memory as a whole.
        case filler(byteCount: Int?)
    }

    let status: Int
    let headers: [(name: String, value: String)]
    let body: Body

    init(status: Int, headers: [(String, String)] = [], text: String = "") {
        self.status = status
        self.headers = headers.map { (name: $0.0, value: $0.1) }
        body = .bytes(Array(text.utf8))
    }

    private init(status: Int, headers: [(name: String, value: String)], body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A JSON object whose member values are JSON; without the members whose value is nil. `headers` are added to the
    /// content type.
    static func json(
        _ members: [(name: String, value: String?)],
        status: Int = 200,
        headers: [(String, String)] = []
    ) -> Answer {
        Answer(
            status: status,
            headers: [("Content-Type", "application/json")] + headers,
            text: JSONText.object(members)
        )
    }

    /// A value as JSON, with names in snake case.
    static func json(_ value: some Encodable, status: Int = 200) -> Answer {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let encoded = try? encoder.encode(value) else {
            return Answer(status: 500, text: "the answer has no JSON form\n")
        }
        return Answer(status: status, headers: jsonHeader, body: .bytes(Array(encoded)))
    }

    /// An OAuth error (RFC 6749 §5.2).
    static func oauthError(
        _ code: String,
        _ description: String,
        status: Int = 400,
        headers: [(String, String)] = []
    ) -> Answer {
        json(
            [("error", JSONText.quote(code)), ("error_description", JSONText.quote(description))],
            status: status,
            headers: [("Cache-Control", "no-store")] + headers
        )
    }

    static func huge(byteCount: Int) -> Answer {
        Answer(status: 200, headers: jsonHeader, body: .filler(byteCount: byteCount))
    }

    static let endless = Answer(status: 200, headers: jsonHeader, body: .filler(byteCount: nil))

    private static let jsonHeader = [(name: "Content-Type", value: "application/json")]

    /// The same token answer, with this JSON text as its `expires_in`.
    func stating(expiresIn json: String) -> Answer {
        guard case .bytes(let bytes) = body else { return self }
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing(/"expires_in":[0-9]+/, with: "\"expires_in\":" + json)
        return Answer(status: status, headers: headers, body: .bytes(Array(text.utf8)))
    }

    static let noContent = Answer(status: 204)
    static let notFound = Answer(status: 404, headers: [("Content-Type", "text/plain")], text: "no such resource\n")

    /// RFC 9110 §15.5.6 requires the list of allowed methods.
    static func methodNotAllowed(allowed: String) -> Answer {
        Answer(status: 405, headers: [("Allow", allowed)])
    }

    /// The length of the body; nil for a body without an end.
    var byteCount: Int? {
        switch body {
        case .bytes(let bytes): bytes.count
        case .filler(let byteCount): byteCount
        }
    }
}
