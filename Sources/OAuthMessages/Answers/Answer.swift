internal import FoundationEssentials
package import RefreshCore
internal import TextEncodings

/// An HTTP answer, complete or cut off at the body limit.
package struct Answer: Sendable {
    package let status: Int
    package let headers: HeaderFields
    package var body: [UInt8] = []
    /// Whether the body was longer than the limit. `body` is empty then.
    package var isTooLarge = false

    package init(status: Int, headers: HeaderFields, body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The `Date` header, which is the server's clock at the time of the answer; nil if absent or unreadable, and for an
    /// answer from a cache: its date is that of another answer (RFC 9111 §5.1).
    package var serverDate: Timestamp? {
        headers.contains(name: "age")
            ? nil : headers.first(name: "date").flatMap(HTTPDate.parse).map(Timestamp.init(seconds:))
    }

    /// The body without the byte order mark that some servers put before text.
    package var text: ArraySlice<UInt8> {
        body.starts(with: [0xef, 0xbb, 0xbf]) ? body.dropFirst(3) : body[...]
    }

    /// How long to wait according to `Retry-After` (RFC 9110 §10.2.3), not capped; nil if absent, unreadable or past.
    ///
    /// A date is measured from the answer's own `Date` if it has one, else from `now`.
    package func retryAfter(now: Timestamp) -> Duration? {
        guard let text = headers.first(name: "retry-after") else { return nil }
        let word = text.filter { $0 != " " }
        if !word.isEmpty, word.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // 10⁹ s are 31 years. More digits would only overflow.
            return .seconds(min(Int64(word) ?? .max, 1_000_000_000))
        }
        guard let date = HTTPDate.parse(text) else { return nil }
        let wait = Timestamp(seconds: date) - (serverDate ?? now)
        return wait > .zero ? wait : nil
    }

    /// Whether `Location` leads away from `endpoint`'s host.
    package func isRedirect(awayFrom endpoint: Endpoint) -> Bool {
        guard (300...399).contains(status), let location = headers.first(name: "location") else { return false }
        // "//host/path" keeps the scheme and changes the host (RFC 3986 §4.2).
        let target = location.hasPrefix("//") ? "https:" + location : location
        guard let scheme = target.firstIndex(of: ":"), target[scheme...].hasPrefix("://") else { return false }
        let authority = target[target.index(scheme, offsetBy: 3)...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return Endpoint.split(authority: authority)?.host != endpoint.host
    }
}

/// The kind of an answer's body, recognized by its content because content types are often wrong.
package enum BodyKind: String, Hashable, Sendable, CaseIterable {
    case empty
    /// Named fields: a JSON object or a form.
    case fields
    case html
    /// Anything else: text, JSON that is not an object, truncated JSON, bytes.
    case other
    case tooLarge
}

/// The content of an answer's body.
package struct AnswerBody: Sendable {
    package let kind: BodyKind
    /// The fields; empty unless `kind` is `fields`.
    package let fields: [String: JSONTree]

    package init(_ answer: Answer) {
        (kind, fields) = AnswerBody.read(answer)
    }

    /// Whether there are fields, and no error among them.
    package var holdsAnswer: Bool { kind == .fields && ErrorReading(fields).error == nil }

    private static func read(_ answer: Answer) -> (BodyKind, [String: JSONTree]) {
        if answer.isTooLarge { return (.tooLarge, [:]) }
        let start = answer.text.drop { $0 <= 0x20 }
        guard let first = start.first else { return (.empty, [:]) }
        if first == UInt8(ascii: "<") { return (.html, [:]) }
        if first == UInt8(ascii: "{") {
            return JSONTree.object(inAnswer: Array(start)).map { (.fields, $0) } ?? (.other, [:])
        }
        // Some servers answer with a form, under any content type: Facebook did once, GitHub still does (without
        // Accept: application/json).
        let text = String(decoding: start, as: UTF8.self)
        let form = FormEncoding.parse(
            text[..<(text.lastIndex { !$0.isWhitespace }.map(text.index(after:)) ?? text.endIndex)]
        )
        return form.map { (.fields, $0.mapValues(JSONTree.string)) } ?? (.other, [:])
    }
}

extension Timestamp {
    /// - Parameter seconds: since 1970.
    fileprivate init(seconds: Int) {
        self.init(microseconds: Int64(seconds) * 1_000_000)
    }
}
