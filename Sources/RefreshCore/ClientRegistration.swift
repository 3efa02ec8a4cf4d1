/// How the authorization server knows this client (RFC 7591 §2), and what an account asks of it.
package struct ClientRegistration: Equatable, Sendable {
    /// `client_id` (RFC 6749 §2.2).
    package var clientID: String
    /// How the client authenticates at the token endpoint; nil chooses by the secret and the server's metadata.
    package var authentication: ClientAuthentication?
    /// The client secret; nil for a public client.
    package var clientSecret: Secret?
    /// When the client secret expires; nil if it does not expire, or if that is unknown.
    package var clientSecretExpiresAt: Timestamp?
    /// The client's private key as in its file, PEM or JWK; nil if the client has none. If the client authenticates
    /// with a certificate, it is here, too.
    package var clientKey: Secret?
    /// The server's name for that key (`kid`); nil if the key file has it, or if it is not needed.
    package var clientKeyID: String?
    /// The absolute path of a file with a client assertion that another issuer made (RFC 7523 §2.2), which proves the
    /// client's identity instead of a secret or key; nil if there is none.
    package var clientAssertionFile: String?
    /// What the client says in each request for tokens that it can do (Entra's `xms_cc`).
    package var clientCapabilities: [String] = []
    /// Apple's identifier of the developer team. If it is set, each request gets a client secret made from the key.
    package var teamID: String?
    /// The key that the account's tokens are bound to (RFC 9449); nil for bearer tokens.
    package var dpopKey: Secret?
    /// Whether an access token is used that the server did not bind to the account's key (RFC 9449 §5).
    package var acceptsBearer = false
    /// `id_token_signed_response_alg` (RFC 7591): the algorithm of the client's ID tokens, by its JOSE name.
    ///
    /// Nil accepts every algorithm with a public key, but no algorithm that uses the client secret.
    package var idTokenAlgorithm: String?
    /// How the client gets tokens in its own name; nil if a person gives the grant.
    package var serviceGrant: ServiceGrant?
    /// The scope that the account asks for when it gets the grant (RFC 6749 §3.3), in the given order.
    ///
    /// The account's own refresh never sends it, because the server may have granted less. If that refresh names a
    /// scope, it is the one in `GrantedScope`.
    package var scopes: [String] = []
    /// Extra parameters of refresh requests, beyond those of RFC 6749 §6: `resource`, `audience`, a provider's own. See
    /// also `target`.
    package var refreshParameters: [String: String] = [:]
    /// Extra parameters of authorization requests: `access_type`, `audience`, a provider's own.
    package var authorizationParameters: [String: String] = [:]
    /// The requested authorization details (RFC 9396 §2), a JSON array of objects; nil asks only for scopes.
    package var authorizationDetails: String?
    /// The registered redirect URIs. The provider profile supplies what is missing here.
    package var redirect = RegisteredRedirect()
    /// The browser for sign-ins: a name or an absolute path; nil uses the one in the configuration, or the person's
    /// default.
    package var loginBrowser: String?
    /// The kind of window for sign-ins, by its name on the wire; nil for an ordinary one.
    package var loginWindow: String?
    /// How to change and delete the registration; nil if the client was registered by hand, or may not do that.
    package var management: RegistrationManagement?
    /// Whether the server registered the client for this account (RFC 7591). Registrations of earlier versions show that
    /// only by `management`; see `isSelfRegistered`.
    package var wasSelfRegistered = false
}

extension ClientRegistration {
    package init(clientID: String) {
        self.init(clientID: clientID, authentication: nil)
    }

    /// Whether the server registered the client for this account (RFC 7591), so that it may register another one.
    package var isSelfRegistered: Bool { wasSelfRegistered || management != nil }

    /// The API that the account's tokens are for: `resource` (RFC 8707) and `audience` from `refreshParameters`.
    ///
    /// Every request for tokens sends them, sign-ins included (RFC 8707 §2). A grant for another resource may not give
    /// tokens for this one.
    package var target: [String: String] {
        refreshParameters.filter { name, _ in name == "resource" || name == "audience" }
    }

    /// `target` as fields of a token request, in a fixed order.
    package var targetFields: [(name: String, value: String)] {
        target.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }
}

/// How a client manages its own registration (RFC 7592 §3).
package struct RegistrationManagement: Equatable, Sendable {
    /// `registration_client_uri`.
    package var uri: String
    /// `registration_access_token`.
    package var accessToken: Secret

    package init(uri: String, accessToken: Secret) {
        self.uri = uri
        self.accessToken = accessToken
    }
}

/// How a client authenticates at the token endpoint. The raw values are the registered names (OpenID Connect Core §9).
package enum ClientAuthentication: String, Hashable, Sendable, CaseIterable {
    /// A public client: only `client_id` is sent.
    case none
    /// The secret in the `Authorization` header (RFC 6749 §2.3.1).
    case clientSecretBasic = "client_secret_basic"
    /// The secret in the request body.
    case clientSecretPost = "client_secret_post"
    /// A token signed with the secret (RFC 7523 §2.2).
    case clientSecretJWT = "client_secret_jwt"
    /// A token signed with the client's key (RFC 7523 §2.2).
    case privateKeyJWT = "private_key_jwt"
    /// A certificate issued by an authority that the server trusts (RFC 8705 §2.1).
    case tlsClientAuth = "tls_client_auth"
    /// A certificate that is registered at the server (RFC 8705 §2.2).
    case selfSignedTLSClientAuth = "self_signed_tls_client_auth"

    /// What a client needs for the method.
    package enum Means: Hashable, Sendable {
        case nothing
        case secret
        case key
        case certificate
    }

    package var means: Means {
        switch self {
        case .none: .nothing
        case .clientSecretBasic, .clientSecretPost, .clientSecretJWT: .secret
        case .privateKeyJWT: .key
        case .tlsClientAuth, .selfSignedTLSClientAuth: .certificate
        }
    }
}

/// How the client ID and the secret are encoded in the `Authorization` header.
///
/// RFC 6749 §2.3.1 wants them form-encoded first. Some servers (glewlwyd 2.7) accept only the raw text, others
/// (django-oauth-toolkit) only the encoded one. The first refusal shows which, and the account stores it.
package enum BasicCredentialEncoding: String, Hashable, Sendable, CaseIterable {
    case formEncoded = "form"
    case raw
}

/// Where the server sends browsers back to, as registered with the client (RFC 6749 §3.1.2.2).
package struct RegisteredRedirect: Hashable, Sendable {
    /// The registered redirect URI: a fixed port and path on loopback, or a page of the owner.
    package var uri: String?
    /// The registered loopback port, 1...65535; nil if any port is allowed (RFC 8252 §7.3).
    package var port: Int?
    /// The registered private-use URI scheme (RFC 8252 §7.1).
    package var scheme: String?
    /// Whether each authorization response must name its issuer (RFC 9207), even if the server does not promise that.
    package var requiresIssuer = false
    /// Where the browser goes after a sign-out at the server (OpenID Connect RP-Initiated Logout §3); nil if nothing is
    /// registered.
    package var postLogoutURI: String?

    /// Whether `text` can be a redirect URI: absolute, printable ASCII, without a fragment (RFC 6749 §3.1.2).
    package static func isURI(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7e).contains($0) } && text.contains(":") && !text.contains("#")
            && text.first?.isLetter == true
    }

    /// Whether `text` can be a private-use URI scheme. RFC 8252 §7.1 requires a reversed domain name, so at least one
    /// dot; `http` has none.
    package static func isScheme(_ text: String) -> Bool {
        text.first?.isLetter == true && text.contains(".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "-"), UInt8(ascii: "+"):
                    true
                default: false
                }
            }
    }

    package static func isPort(_ number: Int) -> Bool { (1...65_535).contains(number) }
}
