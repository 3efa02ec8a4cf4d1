internal import FoundationEssentials
internal import RefreshCore

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1).
package struct AuthenticationChallenge: Hashable, Sendable {
    /// The authentication scheme, in lower case: `bearer`, `dpop`, `basic`.
    package let scheme: String
    /// The parameters, by their names in lower case. Empty if the challenge has no parameters, or a token68 instead of
    /// them.
    package let parameters: [String: String]

    /// The longest field that is read, in bytes. Real ones with claims have up to 2 KiB.
    package static let fieldLimit = 16_384

    /// The challenges in the value of the field, in order; nil if the value does not follow RFC 9110 §11.6.1. Values that
    /// lack quotes are read all the same.
    ///
    /// A comma separates parameters, and also challenges. Only the text after the comma shows which of the two begins.
    package static func all(in field: String) -> [AuthenticationChallenge]? {
        guard field.utf8.count <= fieldLimit else { return nil }
        var reader = ChallengeReader(field)
        return reader.challenges()
    }
}

extension Answer {
    /// The challenges of the answer, without those that cannot be read.
    package var challenges: [AuthenticationChallenge] {
        headers["www-authenticate"].flatMap { AuthenticationChallenge.all(in: $0) ?? [] }
    }
}

/// Reads RFC 9110 §11.6.1 from left to right.
private struct ChallengeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    mutating func challenges() -> [AuthenticationChallenge]? {
        var found: [AuthenticationChallenge] = []
        skipSeparators()
        while position < bytes.count {
            guard let scheme = token(), let parameters = parametersOrToken68() else { return nil }
            found.append(AuthenticationChallenge(scheme: scheme.lowercased(), parameters: parameters))
        }
        return found.isEmpty ? nil : found
    }

    /// Reads the parameters or the token68 that follow a scheme, up to the next scheme.
    private mutating func parametersOrToken68() -> [String: String]? {
        guard position == bytes.count || isSeparator(bytes[position]) else { return nil }
        let begin = position
        skipSpace()
        if token68() {
            skipSpace()
            if position == bytes.count || bytes[position] == UInt8(ascii: ",") {
                skipSeparators()
                return [:]
            }
        }
        // The name was the name of a parameter, not a scheme.
        position = begin
        var parameters: [String: String] = [:]
        while true {
            skipSeparators()
            let mark = position
            guard let name = token() else { return position == bytes.count ? parameters : nil }
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
                // The name was the scheme of the next challenge.
                position = mark
                return parameters
            }
            position += 1
            skipSpace()
            // RFC 9110 §11.2: each name may occur once.
            guard let value = quotedString() ?? unquoted(), parameters[name.lowercased()] == nil else { return nil }
            parameters[name.lowercased()] = value
            guard position == bytes.count || isSeparator(bytes[position]) else { return nil }
        }
    }

    private mutating func token() -> String? {
        let begin = position
        while position < bytes.count, Self.isTokenByte(bytes[position]) { position += 1 }
        return position > begin ? String(decoding: bytes[begin..<position], as: UTF8.self) : nil
    }

    /// Reads a value without quotes. It should be a token, but better-auth, for one, leaves the quotes around a URL out.
    private mutating func unquoted() -> String? {
        let begin = position
        while position < bytes.count, !isSeparator(bytes[position]), bytes[position] != UInt8(ascii: "\"") {
            position += 1
        }
        return position > begin ? String(decoding: bytes[begin..<position], as: UTF8.self) : nil
    }

    /// Skips a token68. Returns false if there is none at this position.
    private mutating func token68() -> Bool {
        let begin = position
        while position < bytes.count, Self.isTokenByte(bytes[position]) || bytes[position] == UInt8(ascii: "/") {
            position += 1
        }
        guard position > begin else { return false }
        while position < bytes.count, bytes[position] == UInt8(ascii: "=") { position += 1 }
        return true
    }

    /// Reads a quoted string (RFC 9110 §5.6.4). Returns nil, and reads nothing, if there is none at this position.
    private mutating func quotedString() -> String? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        var text: [UInt8] = []
        var index = position + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                position = index + 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                index += 1
                guard index < bytes.count else { return nil }
                text.append(bytes[index])
            default: text.append(bytes[index])
            }
            index += 1
        }
        return nil
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private mutating func skipSeparators() {
        while position < bytes.count, isSeparator(bytes[position]) { position += 1 }
    }

    private func isSeparator(_ byte: UInt8) -> Bool { Self.isSpace(byte) || byte == UInt8(ascii: ",") }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether a token may contain the byte (RFC 9110 §5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// What a resource server asks for after it refused a token (RFC 6750 §3, RFC 9470 §3, RFC 9449 §7.1).
package struct TokenDemand: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Another token of the same kind.
        case anotherToken
        /// A token with these claims, a JSON object: Entra's claims challenge, which a refresh may satisfy.
        case claims(String)
        /// A token of a person who was authenticated with one of these strengths, or within this time (RFC 9470 §4).
        case authentication(acrValues: [String], maxAge: Duration?)
        /// A token of a grant that also has these scopes.
        case scopes([String])
        /// No other token: the request or its DPoP proof was wrong.
        case nothing
    }

    package let kind: Kind
    /// The challenge's `error`, safe to print; nil if it has none.
    package let error: String?
    /// The challenge's `error_description`, safe to print; nil if it has none.
    package let description: String?

    /// Reads from `challenges` what the server asks for: the first challenge that asks for more than another token, or
    /// else the first one. Nil if no challenge is about tokens, or none can be understood.
    package init?(_ challenges: [AuthenticationChallenge]) {
        let readable = challenges.filter { ["bearer", "dpop"].contains($0.scheme) }
            .compactMap { challenge in Kind(challenge.parameters).map { (kind: $0, challenge) } }
        guard let (kind, challenge) = readable.first(where: { $0.kind != .anotherToken }) ?? readable.first else {
            return nil
        }
        self.kind = kind
        error = FailureText.clean(challenge.parameters["error"], hiding: [])
        description = FailureText.clean(challenge.parameters["error_description"], hiding: [])
    }
}

extension TokenDemand.Kind {
    fileprivate init?(_ parameters: [String: String]) {
        if let encoded = parameters["claims"] {
            guard let claims = Self.claims(encoded) else { return nil }
            self = .claims(claims)
            return
        }
        switch parameters["error"] {
        case "insufficient_user_authentication":
            let acrValues = Self.words(parameters["acr_values"])
            var maxAge: Duration?
            if let text = parameters["max_age"] {
                guard let seconds = Int64(text), (0...31_557_600).contains(seconds) else { return nil }
                maxAge = .seconds(seconds)
            }
            self = .authentication(acrValues: acrValues, maxAge: maxAge)
        case "insufficient_scope":
            let scopes = Self.words(parameters["scope"])
            self = scopes.isEmpty ? .anotherToken : .scopes(scopes)
        case "invalid_request", "use_dpop_nonce", "invalid_dpop_proof":
            self = .nothing
        default:
            self = .anotherToken
        }
    }

    private static func words(_ text: String?) -> [String] {
        (text ?? "").split(separator: " ").map(String.init)
    }

    /// Decodes the claims. Entra encodes the object in base64, in either alphabet and with or without padding.
    private static func claims(_ encoded: String) -> String? {
        var text = encoded.replacing("-", with: "+").replacing("_", with: "/")
        text = String(text.prefix { $0 != "=" })
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text), JSONTree.object(in: Array(data)) != nil else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
