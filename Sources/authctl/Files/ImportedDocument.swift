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
    /// A refresh token, bare or in a token endpoint's answer; or in Google's file `authorized_user`, which names its client.
    case refreshToken(String, FileClient?)

    /// Tells the kinds apart: JSON begins with a brace, which no server has been seen to begin a token with.
    ///
    /// - Throws: what is wrong, without the content.
    init(_ secret: SecretText) throws(UnusableDocument) {
        let text = secret.reveal()
        guard text.drop(while: \.isWhitespace).first == "{" else {
            if let flaw = RefreshTokenText.flaw(in: text) {
                throw .noRefreshToken(content: flaw.rawValue)
            }
            self = .refreshToken(text, nil)
            return
        }
        switch GoogleFile(text) {
        case .client: throw .isClient
        case .serviceAccountKey: throw .isServiceAccountKey
        case .authorizedUser(let client, let token) where RefreshTokenText.flaw(in: token) == nil:
            self = .refreshToken(token, client)
            return
        case .authorizedUser, nil: break
        }
        guard let keys = WireText.decode(Keys.self, fromText: text) else {
            throw .brokenJSON
        }
        if keys.format != nil {
            self = .account(try Self.account(in: text, keys))
        } else if let token = keys.refreshToken, !token.isEmpty, RefreshTokenText.flaw(in: token) == nil {
            self = .refreshToken(token, nil)
        } else {
            throw .unknownJSON
        }
    }

    private static func account(in text: String, _ keys: Keys) throws(UnusableDocument) -> AccountDocument {
        guard keys.format == AccountDocument.currentFormat else {
            throw .unknownExportFormat(known: AccountDocument.currentFormat)
        }
        guard let document = WireText.decode(AccountDocument.self, fromText: text) else {
            throw .incompleteExport
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
