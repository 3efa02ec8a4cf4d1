internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

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
    /// A refresh token: bare, in an answer of a token endpoint, or in a file that also names its client.
    case refreshToken(String, FileClient?)

    /// Recognizes the kind. JSON begins with a brace, and no known server's tokens do.
    ///
    /// - Parameter bare: what a file without JSON contains, without what people copied with it.
    /// - Throws: what is wrong, without the content.
    init(_ secret: SecretText, bare: (String) throws(Report) -> SecretText) throws(Report) {
        let text = secret.reveal()
        guard text.drop(while: \.isWhitespace).first == "{" else {
            self = .refreshToken(try Self.bareToken(try bare(text).reveal()), nil)
            return
        }
        switch ClientFile(Array(text.utf8)) {
        case .client(let client), .impersonation(let client, _):
            if let token = client.refreshToken?.reveal(), token.flawAsRefreshToken == nil {
                let hasClient = client.id != nil || client.server != nil
                self = .refreshToken(token, hasClient ? client : nil)
                return
            }
            guard client.refreshToken != nil || client.id == nil else {
                let provider = client.server?.provider ?? "PROVIDER"
                throw .document(
                    "the file contains a client, but no refresh token",
                    hint: "\(Command("login", "NAME", "--provider", provider, "--client-secret-file", "FILE"))"
                )
            }
        case .serviceAccountKey: throw .isServiceAccountKey
        case .externalAccount:
            throw .document(
                "the file describes a workload (\"type\": \"external_account\"), so there is no refresh token",
                hint: "the file of a person's account has the type authorized_user"
            )
        case nil: break
        }
        self = .account(try Self.account(in: text))
    }

    /// A file with nothing but a refresh token.
    private static func bareToken(_ token: String) throws(Report) -> String {
        guard let flaw = token.flawAsRefreshToken else { return token }
        throw .document(
            "the file contains \(flaw), but no refresh token",
            hint:
                "expected: a refresh token on one line, a token endpoint's answer ({\"refresh_token\": ...}), a file"
                + " with its client too, or what '\(Command("account", "export", "ACCOUNT"))' wrote"
        )
    }

    private static func account(in text: String) throws(Report) -> AccountDocument {
        guard let json = JSONValue(text) else { throw .brokenJSON }
        guard let format = json["format"]?.string else {
            throw .document(
                "the JSON is neither an account's export nor an answer with a \"refresh_token\"",
                hint:
                    "expected: what '\(Command("account", "export", "ACCOUNT"))' wrote, Google's authorized_user file,"
                    + " or a token endpoint's answer; many servers give a refresh token only if asked, such as with the"
                    + " scope offline_access"
            )
        }
        guard format == AccountDocument.currentFormat else {
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
}
