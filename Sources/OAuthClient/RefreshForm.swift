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
