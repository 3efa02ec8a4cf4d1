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
    func word(_ name: String) throws -> String? {
        try converted(name, "is no word") { $0.isWord ? $0 : nil }
    }

    /// The name of the field that carries a token; nil if the key is absent.
    func credentialParameter(_ name: String) throws -> String? {
        let parameter = try word(name)
        guard let parameter, ["grant_type", "client_id", "client_secret"].contains(parameter) else { return parameter }
        throw error(name, "has a name that the request itself uses: \(parameter)")
    }
}
