internal import AuthRefreshInterface
internal import CommandLineProgram

/// The JSON document that `account export` writes and `account import` reads: an account with its secrets.
struct AccountDocument: Codable {
    /// The kind and version of the document. A reader refuses unknown ones.
    static let currentFormat = "authrefresh-account/1"

    var format = Self.currentFormat
    var settings: AccountSettings
    /// The client secret; nil for a public client.
    var clientSecret: String?
    /// The client's private key; nil if it has none.
    var clientKey: String?
    /// The DPoP key; nil if the account's tokens are not bound to a key.
    var dpopKey: String?
    /// The refresh token; nil if the account is signed out.
    var refreshToken: String?
    /// The access to the client's registration; nil if it was registered by hand.
    var registration: ManagedRegistration?
    /// When the client secret expires, in µs since 1970; nil if it does not, or if that is unknown.
    var clientSecretExpiresAtUSec: Int64?
}

/// The content of a file for `account import`.
enum ImportedDocument {
    case account(AccountDocument)
    /// A refresh token: bare, in an answer of a token endpoint, or in Google's `authorized_user` file, which names its
    /// client.
    case refreshToken(String, FileClient?)

    /// Recognizes the kind. JSON begins with a brace, and no known server's tokens do.
    ///
    /// - Throws: what is wrong, without the content.
    init(_ secret: SecretText) throws(Report) {
        let text = secret.reveal()
        guard text.drop(while: \.isWhitespace).first == "{" else {
            if let flaw = RefreshTokenText.flaw(in: text) {
                throw .document(
                    "the file contains \(flaw.rawValue), but no refresh token",
                    hint:
                        "expected: a refresh token on one line, a token endpoint's answer ({\"refresh_token\": ...}), Google's"
                        + " authorized_user file, or what '\(Command("account", "export", "ACCOUNT"))' wrote"
                )
            }
            self = .refreshToken(text, nil)
            return
        }
        switch GoogleFile(text) {
        case .client:
            throw .document(
                "the file contains a client, but no refresh token",
                hint: "\(Command("login", "NAME", "--provider", "google", "--client-secret-file", "FILE"))"
            )
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
            throw .document(
                "the JSON is neither an account's export nor an answer with a \"refresh_token\"",
                hint:
                    "expected: what '\(Command("account", "export", "ACCOUNT"))' wrote, Google's authorized_user file, or a token"
                    + " endpoint's answer; many servers give a refresh token only if asked, such as with the scope"
                    + " offline_access"
            )
        }
    }

    private static func account(in text: String, _ keys: Keys) throws(Report) -> AccountDocument {
        guard keys.format == AccountDocument.currentFormat else {
            throw .document(
                "this authctl does not know the format of the export",
                hint: "this authctl reads the format \(AccountDocument.currentFormat)"
            )
        }
        guard let document = WireText.decode(AccountDocument.self, fromText: text) else {
            throw .document(
                "a part of the export is missing or has the wrong type",
                hint: "the file may be cut short or edited: export it again"
            )
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
