internal import Crypto
internal import FoundationEssentials

/// The metadata of a client that registers itself (RFC 7591 §2), as far as this server knows it.
struct ClientMetadata: Codable, Equatable, Sendable {
    let redirectUris: [String]?
    let applicationType: String?
    let grantTypes: [String]?
    let responseTypes: [String]?
    let tokenEndpointAuthMethod: String?
    let clientName: String?
    let scope: String?
    let jwks: [String: [Key]]?

    /// A public key (RFC 7517 §4).
    struct Key: Codable, Equatable, Sendable {
        let kty: String
        let crv: String?
        let x: String?
        let y: String?

        /// The key in PEM; nil unless it is on the curve P-256.
        var pem: String? {
            guard kty == "EC", crv == "P-256", let x = x.flatMap({ SignedToken.bytes($0[...]) }),
                let y = y.flatMap({ SignedToken.bytes($0[...]) })
            else { return nil }
            return try? P256.Signing.PublicKey(x963Representation: [4] + x + y).pemRepresentation
        }
    }

    /// Grant types without a browser, because the client acts for itself.
    var isService: Bool {
        Set(grantTypes ?? ["authorization_code"])
            .isSubset(of: ["client_credentials", IssuerState.tokenExchange, IssuerState.jwtBearer])
    }

    /// Whether this server supports all of it, apart from the redirect URIs.
    var isKnown: Bool {
        let known = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]
        return (isService || Set(grantTypes ?? []).isSubset(of: known)) && responseTypes ?? ["code"] == ["code"]
            && applicationType == "native" && clientName?.isEmpty == false
    }
}
