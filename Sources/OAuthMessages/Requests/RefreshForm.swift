/// How a refresh is asked for, where that is not RFC 6749 §6's way.
package struct RefreshForm: Hashable, Sendable {
    /// What is given for a new access token.
    package enum Credential: String, Hashable, Sendable, CaseIterable {
        case refreshToken = "refresh_token"
        /// The access token before, as long as it lives: the provider has no refresh tokens (Facebook, Instagram).
        case accessToken = "access_token"
    }

    /// How the request goes out.
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case post
        /// The fields stand in the query, credentials included (Instagram). RFC 6749 §2.3.1 forbids that to everybody else.
        case get
    }

    package var credential = Credential.refreshToken
    /// `grant_type`: `fb_exchange_token`.
    package var grantType = Self.standard
    /// The field that carries the credential: `fb_exchange_token`.
    package var parameter = Self.standard
    package var method = Method.post

    package init() {}

    /// What both are called by RFC 6749 §6.
    package static let standard = "refresh_token"
}

extension RefreshForm {
    enum Key: String, CaseIterable {
        case credential = "refresh_with"
        case grantType = "refresh_grant_type"
        case parameter = "refresh_token_parameter"
        case method = "refresh_method"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields) throws {
        credential = try fields.choice(Key.credential.rawValue) ?? .refreshToken
        grantType = try fields.word(Key.grantType.rawValue) ?? Self.standard
        parameter = try fields.credentialParameter(Key.parameter.rawValue) ?? Self.standard
        method = try fields.choice(Key.method.rawValue) ?? .post
    }
}

/// How the access token that a sign-in brought is exchanged for another one at once, where a provider's code brings only one that
/// does not last (Instagram). Where that is asked is the profile's `exchange_endpoint`.
package struct ExchangeForm: Hashable, Sendable {
    /// `grant_type`: `ig_exchange_token`; nil sends none.
    package var grantType: String?
    /// The field that carries the token.
    package var parameter = Self.standard
    package var method = RefreshForm.Method.post

    package init() {}

    package static let standard = "access_token"
}

extension ExchangeForm {
    enum Key: String, CaseIterable {
        case grantType = "exchange_grant_type"
        case parameter = "exchange_token_parameter"
        case method = "exchange_method"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields) throws {
        grantType = try fields.word(Key.grantType.rawValue)
        parameter = try fields.credentialParameter(Key.parameter.rawValue) ?? Self.standard
        method = try fields.choice(Key.method.rawValue) ?? .post
    }
}

extension StrictFields {
    /// Printable ASCII without spaces; nil if the key is absent.
    package func word(_ name: String) throws -> String? {
        try converted(name, "is no word") { $0.isWord ? $0 : nil }
    }

    /// The name of the field that carries a token; nil if the key is absent.
    func credentialParameter(_ name: String) throws -> String? {
        let parameter = try word(name)
        guard let parameter, ["grant_type", "client_id", "client_secret"].contains(parameter) else { return parameter }
        throw error(name, "has a name that the request itself uses: \(parameter)")
    }
}
