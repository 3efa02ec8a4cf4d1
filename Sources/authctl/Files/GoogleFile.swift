/// A client as a file names it.
struct FileClient {
    /// Nil: the file holds a secret and nothing else.
    var id: String?
    /// Nil: a client without one, as those of mobile apps.
    var secret: SecretText?

    /// The same with what another file says beside it.
    func completed(by other: FileClient?) -> FileClient {
        FileClient(id: id ?? other?.id, secret: secret ?? other?.secret)
    }
}

/// The JSON files in which Google gives out clients, grants and keys. Other servers' tools have taken over some of them.
enum GoogleFile {
    /// What the console downloads for a client: `installed` or `web`.
    case client(FileClient)
    /// What `gcloud auth application-default login` leaves: `authorized_user`.
    case authorizedUser(FileClient, refreshToken: String)
    /// The key of a service account.
    case serviceAccountKey

    /// Nil if the text is none of them.
    init?(_ text: String) {
        guard text.drop(while: \.isWhitespace).first == "{", let file = WireText.decode(Fields.self, fromText: text)
        else { return nil }
        if let client = file.installed ?? file.web, let id = client.id, !id.isEmpty {
            self = .client(FileClient(id: id, secret: client.secret.map { SecretText($0) }))
        } else if file.type == "service_account" || file.privateKey != nil && file.clientEmail != nil {
            self = .serviceAccountKey
        } else if file.type == "authorized_user", let id = file.id, let token = file.refreshToken, !token.isEmpty {
            self = .authorizedUser(FileClient(id: id, secret: file.secret.map { SecretText($0) }), refreshToken: token)
        } else {
            return nil
        }
    }

    private struct Client: Decodable {
        var id: String?
        var secret: String?

        enum CodingKeys: String, CodingKey {
            case id = "client_id"
            case secret = "client_secret"
        }
    }

    private struct Fields: Decodable {
        var type: String?
        var installed: Client?
        var web: Client?
        var id: String?
        var secret: String?
        var refreshToken: String?
        var privateKey: String?
        var clientEmail: String?

        enum CodingKeys: String, CodingKey {
            case type, installed, web
            case id = "client_id"
            case secret = "client_secret"
            case refreshToken = "refresh_token"
            case privateKey = "private_key"
            case clientEmail = "client_email"
        }
    }
}
