package import RefreshCore

/// How a revocation is asked for, where that is not RFC 7009 §2.1's way.
package struct RevocationForm: Hashable, Sendable {
    /// How the request goes out.
    package enum Method: String, Hashable, Sendable, CaseIterable {
        case post
        /// GitHub's `DELETE /applications/{client_id}/grant`.
        case delete
    }

    package var method = Method.post
    /// What ends the grant: the refresh token, or the access token alone (GitHub), of which there has to be one then.
    package var credential = RefreshForm.Credential.refreshToken
    /// The field that carries the token.
    package var parameter = Self.standard
    package var format = BodyFormat.form
    /// How clients prove themselves there; nil for as they do everywhere.
    package var authentication: ClientAuthentication?

    package init() {}

    package static let standard = "token"

    /// Whether RFC 7009 says what the endpoint makes of a request.
    package var isStandard: Bool { self == RevocationForm() }
}

extension RevocationForm {
    enum Key: String, CaseIterable {
        case method = "revocation_method"
        case credential = "revocation_token"
        case parameter = "revocation_token_parameter"
        case format = "revocation_format"
        case authentication = "revocation_authentication"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields) throws {
        method = try fields.choice(Key.method.rawValue) ?? .post
        credential = try fields.choice(Key.credential.rawValue) ?? .refreshToken
        parameter = try fields.word(Key.parameter.rawValue) ?? Self.standard
        format = try fields.choice(Key.format.rawValue) ?? .form
        authentication = try fields.choice(Key.authentication.rawValue)
    }
}
