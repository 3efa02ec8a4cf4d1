package import RefreshCore

/// The form of a provider's revocation requests, if it is not that of RFC 7009 §2.1.
package struct RevocationForm: Hashable, Sendable {
    /// DELETE is GitHub's: `DELETE /applications/{client_id}/grant`.
    package var method = RequestMethod.post
    /// The token that ends the grant: the refresh token, or only the access token (GitHub), which must then be present.
    package var credential = RefreshForm.Credential.refreshToken
    /// The name of the field with the token.
    package var parameter = Self.standard
    package var format = BodyFormat.form
    /// How clients authenticate at this endpoint; nil if as at the others.
    package var authentication: ClientAuthentication?

    package init() {}

    package static let standard = "token"

    /// Whether the form is that of RFC 7009, so that the RFC defines the meaning of answers.
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
        method = try fields.choice(Key.method.rawValue, among: [.post, .delete]) ?? .post
        credential = try fields.choice(Key.credential.rawValue) ?? .refreshToken
        parameter = try fields.word(Key.parameter.rawValue) ?? Self.standard
        format = try fields.choice(Key.format.rawValue) ?? .form
        authentication = try fields.choice(Key.authentication.rawValue)
    }
}
