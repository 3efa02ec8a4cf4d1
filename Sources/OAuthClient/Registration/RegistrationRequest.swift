package import RefreshCore

/// What a client says about itself to be registered (RFC 7591 §2).
package struct RegistrationRequest: Sendable {
    /// On whose behalf; it has no client id yet.
    package var client: RequestingClient
    /// What the person sees at the server.
    package var clientName: String
    package var redirectURIs: [String]
    package var grantTypes: [String] = ["authorization_code", "refresh_token"]
    /// Nil is none at all, which suits a native client (RFC 8252 §8.4), where the server offers that, and else leaves it to the server.
    package var authentication: ClientAuthentication?
    package var scopes: [String] = []
    package var postLogoutRedirectURIs: [String] = []
    /// The client's public keys as a key set in JSON, for `private_key_jwt`; nil if it has none.
    package var keySet: String?
    /// The same for all installations of this program (RFC 7591 §2).
    package var softwareID: String?
    package var softwareVersion: String?
    /// What servers want that do not register everybody (RFC 7591 §3).
    package var initialAccessToken: Secret?

    package init(client: RequestingClient, clientName: String, redirectURIs: [String]) {
        self.client = client
        self.clientName = clientName
        self.redirectURIs = redirectURIs
    }

    var document: JSONValue {
        let list = { (texts: [String]) in texts.isEmpty ? nil : JSONValue.array(texts.map(JSONValue.string)) }
        let fields: [String: JSONValue?] = [
            "client_name": .string(clientName),
            "application_type": .string("native"),
            "redirect_uris": list(redirectURIs),
            "grant_types": list(grantTypes),
            "response_types": grantTypes.contains("authorization_code") ? list(["code"]) : nil,
            "token_endpoint_auth_method": authentication.map { .string($0.rawValue) },
            "scope": scopes.isEmpty ? nil : .string(scopes.joined(separator: " ")),
            "post_logout_redirect_uris": list(postLogoutRedirectURIs),
            "jwks": keySet.flatMap { JSONValue.object(in: Array($0.utf8)) }.map(JSONValue.object),
            "software_id": softwareID.map(JSONValue.string),
            "software_version": softwareVersion.map(JSONValue.string),
        ]
        return .object(fields.compactMapValues { $0 })
    }
}

/// What the server made of it (RFC 7591 §3.2.1).
package struct RegisteredClient: Sendable {
    /// With what changes and deletes it later, if the server lets clients do that.
    package let registration: ClientRegistration
}
