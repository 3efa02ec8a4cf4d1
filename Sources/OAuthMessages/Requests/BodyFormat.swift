internal import TextEncodings

/// The method of a request (RFC 9110 §9). The raw values are those of configuration files.
package enum RequestMethod: String, Hashable, Sendable, CaseIterable {
    case get, post, put, delete

    /// The method as it is sent.
    package var word: String { rawValue.uppercased() }
}

/// The format in which the fields of a token request are sent.
package enum BodyFormat: String, Hashable, Sendable, CaseIterable {
    /// RFC 6749 appendix B.
    case form
    /// One JSON object of strings (Notion).
    case json

    package var contentType: String {
        switch self {
        case .form: "application/x-www-form-urlencoded"
        case .json: "application/json"
        }
    }

    /// `fields` in this format. A JSON object holds each name once, with its first value.
    package func body(_ fields: [(name: String, value: String)]) -> [UInt8] {
        switch self {
        case .form:
            FormEncoding.body(fields)
        case .json:
            JSONTree.object(Dictionary(fields.map { ($0.name, .string($0.value)) }) { first, _ in first }).bytes
        }
    }
}
