internal import FoundationEssentials
internal import RefreshCore

/// What a resource server that refused a token wants in its place (RFC 6750 §3, RFC 9470 §3, RFC 9449 §7.1).
package struct TokenDemand: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Another token of the same kind.
        case anotherToken
        /// A token with these claims, a JSON object: Entra's claims challenge, which a refresh may satisfy.
        case claims(String)
        /// A person who was authenticated as said, or not longer ago (RFC 9470 §4).
        case authentication(acrValues: [String], maxAge: Duration?)
        /// A grant with these scopes, too.
        case scopes([String])
        /// Nothing of the token: the request or its DPoP proof was wrong.
        case nothing
    }

    package let kind: Kind
    /// `error` of the challenge, fit to be shown; nil if it has none.
    package let error: String?
    /// `error_description`, fit to be shown; nil if it has none.
    package let description: String?

    /// Reads what is wanted of a token among `challenges`: the first one that wants more than another one, if there is such. Nil if
    /// none is about tokens, or none can be understood.
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

    /// Entra encodes the object in base64, in either alphabet and with or without padding.
    private static func claims(_ encoded: String) -> String? {
        var text = encoded.replacing("-", with: "+").replacing("_", with: "/")
        text = String(text.prefix { $0 != "=" })
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text), JSONValue.object(in: Array(data)) != nil else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
