/// A client from a file.
struct FileClient {
    /// The client ID; nil if the file contains only a secret.
    var id: String?
    /// The client secret; nil for a client without one, such as a mobile app's.
    var secret: SecretText?
    /// The redirect URIs that are registered for the client; empty if the file names none.
    var redirectURIs: [String] = []

    /// This client, completed with what another file says about it.
    func completed(by other: FileClient?) -> FileClient {
        FileClient(id: id ?? other?.id, secret: secret ?? other?.secret, redirectURIs: redirectURIs)
    }
}

/// Google's JSON files for clients, grants and keys. Tools of other servers also use some of them.
enum GoogleFile {
    /// The console's file for a client: `installed` or `web`.
    case client(FileClient)
    /// The file of `gcloud auth application-default login`: `authorized_user`.
    case authorizedUser(FileClient, refreshToken: String)
    /// The key of a service account.
    case serviceAccountKey

    /// Reads a file; nil if the text is not one of them.
    init?(_ text: String) {
        guard text.drop(while: \.isWhitespace).first == "{", let file = WireText.decode(Fields.self, fromText: text)
        else { return nil }
        if let client = file.installed ?? file.web, let id = client.id, !id.isEmpty {
            self = .client(
                FileClient(
                    id: id,
                    secret: client.secret.map { SecretText($0) },
                    redirectURIs: client.redirectURIs ?? []
                )
            )
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
        var redirectURIs: [String]?

        enum CodingKeys: String, CodingKey {
            case id = "client_id"
            case secret = "client_secret"
            case redirectURIs = "redirect_uris"
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
