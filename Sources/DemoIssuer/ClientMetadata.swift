internal import Crypto
internal import FoundationEssentials

/// What a client says about itself to be registered (RFC 7591 §2), as far as this server knows it.
struct ClientMetadata: Codable, Equatable, Sendable {
    let redirectUris: [String]?
    let applicationType: String?
    let grantTypes: [String]?
    let responseTypes: [String]?
    let tokenEndpointAuthMethod: String?
    let clientName: String?
    let scope: String?
    let jwks: KeySet?

    struct KeySet: Codable, Equatable, Sendable {
        let keys: [Key]
    }

    /// A public key (RFC 7517 §4).
    struct Key: Codable, Equatable, Sendable {
        let kty: String
        let crv: String?
        let x: String?
        let y: String?

        /// The key in PEM; nil for any other than one of the curve P-256.
        var pem: String? {
            guard kty == "EC", crv == "P-256", let x = x.flatMap({ IDTokenSigner.bytes($0[...]) }),
                let y = y.flatMap({ IDTokenSigner.bytes($0[...]) })
            else { return nil }
            return try? P256.Signing.PublicKey(x963Representation: [4] + x + y).pemRepresentation
        }
    }

    /// What only the server says about a client, but for its id (RFC 7592 §2.2).
    struct ServersOwn: Decodable {
        let clientId: String?
        let clientSecret: String?
        let clientSecretExpiresAt: Int?
        let registrationAccessToken: String?
        let registrationClientUri: String?

        /// Whether an update of the client `id` may be sent with it.
        func isFit(for id: String) -> Bool {
            clientId == id && clientSecret == nil && clientSecretExpiresAt == nil && registrationAccessToken == nil
                && registrationClientUri == nil
        }
    }

    /// Those that send nobody anywhere, because the client acts for itself.
    var isService: Bool {
        Set(grantTypes ?? ["authorization_code"])
            .isSubset(of: ["client_credentials", IssuerState.tokenExchange, IssuerState.jwtBearer])
    }

    /// Whether this server can do something with all of it, redirect URIs apart.
    var isKnown: Bool {
        let known = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]
        return (isService || Set(grantTypes ?? []).isSubset(of: known)) && responseTypes ?? ["code"] == ["code"]
            && applicationType == "native" && clientName?.isEmpty == false
    }
}
