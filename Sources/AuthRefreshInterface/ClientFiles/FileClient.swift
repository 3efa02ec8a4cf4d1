package import Basics

/// A client that a file names, or its grant, or both.
package struct FileClient: Sendable {
    /// The client ID; nil if the file contains only a secret or a grant.
    package var id: String?
    /// The client secret; nil for a client without one, such as a mobile app's.
    package var secret: SecretText?
    /// The redirect URIs that are registered for the client; empty if the file names none.
    package var redirectURIs: [String] = []
    /// The refresh token; nil if the file contains no grant.
    package var refreshToken: SecretText?
    /// The client's server; nil if the file does not name it.
    package var server: NamedServer?
    /// The scopes of the grant; nil if the file does not name them.
    package var scopes: [String]?
    /// The person's name at the server, such as an e-mail address.
    package var username: String?

    package init(id: String?, secret: SecretText? = nil) {
        self.id = id
        self.secret = secret
    }

    /// This client, completed with what another file says about it.
    package func completed(by other: FileClient?) -> FileClient {
        guard let other else { return self }
        var client = self
        client.id = id ?? other.id
        client.secret = secret ?? other.secret
        client.server = server ?? other.server
        client.username = username ?? other.username
        return client
    }
}

/// A JSON file of another program that names a client. The one reader for all of them.
package enum ClientFile {
    /// A client, or a grant with or without its client.
    case client(FileClient)
    /// A grant of a person who speaks for a Google service account. The name is the service account's, if it is known.
    case impersonation(FileClient, serviceAccount: String?)
    /// The key of a service account, which `--client-key-file` takes.
    case serviceAccountKey
    /// Google's description of a workload's own credentials, which contains no grant.
    case externalAccount

    /// Reads a file; nil if it is none of them.
    package init?(_ bytes: [UInt8]) {
        guard let fields = JSONFields(bytes) else { return nil }
        self.init(fields)
    }

    /// Reads a JSON object.
    package init?(_ fields: JSONFields) {
        // An export of our own has the client's names too, but is a whole account.
        guard fields.text("format") == nil else { return nil }
        switch fields.text("type") {
        case "service_account": self = .serviceAccountKey
        case "external_account": self = .externalAccount
        case "impersonated_service_account":
            guard let source = fields.object("source_credentials"), let client = FileClient(source) else { return nil }
            // …/serviceAccounts/NAME:generateAccessToken
            let account = fields.text("service_account_impersonation_url")?.split(separator: "/").last
            self = .impersonation(client, serviceAccount: account?.split(separator: ":").first.map(String.init))
        default:
            if fields.text("private_key") != nil, fields.text("client_email") != nil {
                self = .serviceAccountKey
            } else if let client = FileClient(fields) {
                self = .client(client)
            } else {
                return nil
            }
        }
    }
}

extension FileClient {
    /// Reads a client or a grant; nil if the object has neither.
    ///
    /// The names are those of: Google's console (`installed`, `web`), `authorized_user`, and Google's libraries
    /// (`token_uri`); oauth2client's store (`data`, `credential`); getmail (`user`); sasl-xoauth2 (`token_endpoint`);
    /// mutt_oauth2.py (`registration`); oama (`service`, `email`); vdirsyncer and every token endpoint (RFC 6749 §5.1);
    /// registrations (RFC 7591 §3.2.1); Azure CLI's service principals (`appId`, `activeDirectoryEndpointUrl`); and
    /// Keycloak's adapters (`resource`, `auth-server-url`).
    init?(_ fields: JSONFields) {
        let stored = fields.elements("data")
        let inner =
            fields.object("installed") ?? fields.object("web")
            ?? (stored.count == 1 ? stored.first?.object("credential") : nil)
        let object = inner ?? fields
        self.init(id: object.text(of: ["client_id", "clientId", "appId", "resource"]))
        let secret =
            object.text(of: ["client_secret", "clientSecret"])
            ?? (object.text("appId") == nil ? object.object("credentials")?.text("secret") : object.text("password"))
        self.secret = secret.map { SecretText($0) }
        // Programs on Google's library for Node, and Home Assistant, keep the token endpoint's answer as one value.
        let grant = object.object("tokens") ?? object.object("token") ?? object
        refreshToken = grant.text(of: ["refresh_token", "refreshToken"]).map { SecretText($0) }
        guard id != nil || self.secret != nil || refreshToken != nil else { return nil }
        redirectURIs = object.texts("redirect_uris") ?? []
        scopes = Self.scopes(of: object)
        username = object.text(of: ["account", "email", "user"])
        server = Self.server(of: object, isGoogleClient: inner != nil && stored.isEmpty)
    }

    private static func scopes(of object: JSONFields) -> [String]? {
        let names = ["scopes", "scope"]
        let list =
            names.lazy.compactMap { object.texts($0) }.first
            ?? object.text(of: names)?.split { " ,".contains($0) }.map(String.init)
        return list?.isEmpty == true ? nil : list
    }

    private static func server(of object: JSONFields, isGoogleClient: Bool) -> NamedServer? {
        let authorization = object.text(of: ["auth_uri", "authorization_endpoint", "auth_url"])
        let endpoints = ["token_uri", "token_endpoint", "token_url", "tokenURL", "tokenUrl"]
        if let endpoint = object.text(of: endpoints) {
            return NamedServer(tokenEndpoint: endpoint, authorizationEndpoint: authorization)
        }
        if let issuer = object.text(of: ["issuer", "issuer_url"]) { return NamedServer(issuer: issuer) }
        // A cloud that another company runs with Google's software has a server of its own, which the file does not name.
        if let universe = object.text("universe_domain"), universe != "googleapis.com" { return nil }
        // Only Google gives out files of this type.
        if object.text("type") == "authorized_user" || isGoogleClient { return NamedServer(provider: "google") }
        if let cloud = object.text("activeDirectoryEndpointUrl"), let tenant = object.text("tenantId") {
            return NamedServer(tokenEndpoint: cloud + (cloud.hasSuffix("/") ? "" : "/") + tenant + "/oauth2/v2.0/token")
        }
        if let base = object.text("auth-server-url"), let realm = object.text("realm") {
            return NamedServer(issuer: base + (base.hasSuffix("/") ? "" : "/") + "realms/" + realm)
        }
        switch object.text(of: ["registration", "service"]) {
        case let name? where ["google", "microsoft"].contains(name): return NamedServer(provider: name)
        case _: return nil
        }
    }
}
