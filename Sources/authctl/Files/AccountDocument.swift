internal import AuthRefreshInterface

/// What `account export` writes and `account import` reads: an account with its secrets, as JSON.
struct AccountDocument: Codable {
    /// Names the kind of document and its version; a reader refuses what it does not know.
    static let currentFormat = "authrefresh-account/1"

    var format = Self.currentFormat
    var settings: AccountSettings
    /// Nil: a public client.
    var clientSecret: String?
    /// Nil: the client has none.
    var clientKey: String?
    /// Nil: the account's tokens are bound to no key.
    var dpopKey: String?
    /// Nil: the account is signed out.
    var refreshToken: String?
    /// Nil: the client was registered by hand.
    var registration: ManagedRegistration?
    /// µs since 1970. Nil: the client secret does not end, or nobody knows.
    var clientSecretExpiresAtUSec: Int64?
}

/// What a file given to `account import` holds.
enum ImportedDocument {
    case account(AccountDocument)
    /// A refresh token, bare or in a token endpoint's answer.
    case refreshToken(String)

    /// Tells the kinds apart: JSON begins with a brace, which no server has been seen to begin a token with.
    ///
    /// - Throws: `unusableDocument`, without the content.
    init(_ secret: SecretText) throws(AuthctlError) {
        let text = secret.reveal()
        guard text.drop(while: \.isWhitespace).first == "{" else {
            if let flaw = RefreshTokenText.flaw(in: text) {
                throw .unusableDocument(
                    message: "the file holds no refresh token, but \(flaw.rawValue)",
                    hint:
                        "expected: a refresh token on one line, a token endpoint's answer ({\"refresh_token\": ...}), or"
                        + " what 'authctl account export' wrote"
                )
            }
            self = .refreshToken(text)
            return
        }
        guard let keys = WireText.decode(Keys.self, fromText: text) else {
            throw .unusableDocument(message: "the file holds broken JSON", hint: nil)
        }
        if keys.format != nil {
            self = .account(try Self.account(in: text, keys))
        } else if let token = keys.refreshToken, !token.isEmpty, RefreshTokenText.flaw(in: token) == nil {
            self = .refreshToken(token)
        } else {
            throw .unusableDocument(
                message: "the JSON is neither an account's export nor an answer with a \"refresh_token\"",
                hint: "many servers give a refresh token only if asked, such as with the scope offline_access"
            )
        }
    }

    private static func account(in text: String, _ keys: Keys) throws(AuthctlError) -> AccountDocument {
        guard keys.format == AccountDocument.currentFormat else {
            throw .unusableDocument(
                message: "the export is of a format that this authctl does not know",
                hint: "it reads \(AccountDocument.currentFormat)"
            )
        }
        guard let document = WireText.decode(AccountDocument.self, fromText: text) else {
            throw .unusableDocument(message: "the export lacks a part, or a part has the wrong type", hint: nil)
        }
        return document
    }

    private struct Keys: Decodable {
        var format: String?
        var refreshToken: String?

        enum CodingKeys: String, CodingKey {
            case format
            case refreshToken = "refresh_token"
        }
    }
}
