/// The form of a provider's refresh requests, if it is not that of RFC 6749 §6.
package struct RefreshForm: Hashable, Sendable {
    /// The token that is sent to get a new access token.
    package enum Credential: String, Hashable, Sendable, CaseIterable {
        case refreshToken = "refresh_token"
        /// The previous access token, while it is valid: the provider has no refresh tokens (Facebook, Instagram).
        case accessToken = "access_token"
    }

    package var credential = Credential.refreshToken
    /// The value of `grant_type`: `fb_exchange_token`.
    package var grantType = Self.standard
    /// The name of the field with the token: `fb_exchange_token`.
    package var parameter = Self.standard
    /// GET sends the fields in the query, including credentials (Instagram). RFC 6749 §2.3.1 forbids this.
    package var method = RequestMethod.post

    package init() {}

    /// The name of the field and the value of `grant_type` in RFC 6749 §6.
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
        method = try fields.choice(Key.method.rawValue, among: [.post, .get]) ?? .post
    }
}

/// How to exchange the access token of a sign-in for another one at once, at a provider whose code brings only a token
/// that does not last (Instagram). The address is the profile's `exchange_endpoint`.
package struct ExchangeForm: Hashable, Sendable {
    /// The value of `grant_type`: `ig_exchange_token`; nil sends none.
    package var grantType: String?
    /// The name of the field with the token.
    package var parameter = Self.standard
    package var method = RequestMethod.post

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
        method = try fields.choice(Key.method.rawValue, among: [.post, .get]) ?? .post
    }
}

extension StrictFields {
    /// A word of printable ASCII without spaces; nil if the key is absent.
    package func word(_ name: String) throws -> String? {
        try converted(name, "must be one word of printable ASCII characters") { $0.isWord ? $0 : nil }
    }

    /// The name of the field with a token; nil if the key is absent.
    func credentialParameter(_ name: String) throws -> String? {
        let parameter = try word(name)
        guard let parameter, ["grant_type", "client_id", "client_secret"].contains(parameter) else { return parameter }
        throw error(name, reservedParameter: parameter)
    }
}
