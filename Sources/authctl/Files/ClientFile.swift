internal import AuthRefreshInterface

/// A client from a file.
struct FileClient {
    /// The client ID; nil if the file contains only a secret.
    var id: String?
    /// The client secret; nil for a client without one, such as a mobile app's.
    var secret: SecretText?

    /// This client, completed with what another file says about it.
    func completed(by other: FileClient?) -> FileClient {
        FileClient(id: id ?? other?.id, secret: secret ?? other?.secret)
    }

    /// The client ID for the account.
    ///
    /// - Parameter said: the ID that was given in addition to the file.
    /// - Throws: `unusableDocument` if the two differ.
    func id(said: String?) throws(AuthctlError) -> String? {
        guard let id, let said, id != said else { return said ?? id }
        throw .unusableDocument(.otherClient)
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

/// The file of `--client-secret-file`.
struct ClientSecretFile {
    let name: String
    /// The prompt on a terminal.
    let prompt: String

    /// Reads the secret, and the client ID if the file contains it.
    ///
    /// - Throws: `secretFile`, `unusableDocument`, `cancelled`.
    func read() throws(AuthctlError) -> FileClient {
        let secret = try SecretFile(name: name, purpose: .clientSecret).read(prompt: prompt)
        let text = secret.reveal()
        switch GoogleFile(text) {
        case .client(let client), .authorizedUser(let client, _):
            guard client.secret?.reveal().isEmpty == false else {
                throw .unusableDocument(.clientWithoutSecret)
            }
            return client
        case .serviceAccountKey: throw .unusableDocument(.isServiceAccountKey)
        case nil:
            try Self.check(text)
            return FileClient(id: nil, secret: secret)
        }
    }

    /// Refuses text that certainly is not a secret. A secret may begin with any character (RFC 6749 §A.2).
    private static func check(_ text: String) throws(AuthctlError) {
        let isJSON = WireText.decode([String: AnyValue].self, fromText: text) != nil
        let isPage = ["<!doctype", "<html", "<?xml"].contains { text.lowercased().hasPrefix($0) }
        guard !isJSON, !isPage else {
            throw .unusableDocument(.noClientSecret(isPage: isPage))
        }
        if text.hasPrefix("-----BEGIN ") {
            throw .unusableDocument(.keyInsteadOfSecret)
        }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }) else {
            throw .secretFile(.notOneLine(purpose: .clientSecret))
        }
    }

    /// Any JSON value, which is ignored.
    private struct AnyValue: Decodable {
        init(from _: any Decoder) {}
    }
}

/// The file of `--client-key-file`.
struct ClientKeyFile {
    let name: String

    /// Reads the key unchanged; the daemon parses it.
    ///
    /// - Throws: `secretFile`, `unusableDocument`.
    func read() throws(AuthctlError) -> SecretText {
        let key = try SecretFile(name: name, purpose: .clientKey).read(prompt: nil)
        let text = key.reveal()
        switch GoogleFile(text) {
        case .serviceAccountKey: return key
        case .client, .authorizedUser:
            throw .unusableDocument(.secretInsteadOfKey)
        case nil: break
        }
        let isJWK = WireText.decode(KeyFields.self, fromText: text).map { $0.kty != nil || $0.keys != nil } ?? false
        guard isJWK || text.contains("-----BEGIN ") else {
            throw .unusableDocument(.noClientKey)
        }
        return key
    }

    private struct KeyFields: Decodable {
        var kty: String?
        var keys: [Empty]?

        struct Empty: Decodable {}
    }
}
