/// How the authorization server knows this client (RFC 7591 §2), and what an account asks of it.
package struct ClientRegistration: Equatable, Sendable {
    /// `client_id` (RFC 6749 §2.2).
    package var clientID: String
    /// How the client proves itself at the token endpoint; nil chooses by the secret and the server's metadata.
    package var authentication: ClientAuthentication?
    /// The client secret; nil for a public client.
    package var clientSecret: Secret?
    /// When the server stops taking the secret; nil if it does not, or nobody said.
    package var clientSecretExpiresAt: Timestamp?
    /// The client's private key as its file has it, PEM or JWK, with its certificate if that is how the client proves itself; nil if
    /// it has none.
    package var clientKey: Secret?
    /// The name under which the server knows that key (`kid`); nil if the key file says it, or nobody needs it.
    package var clientKeyID: String?
    /// Apple's identifier of the developer team: with it the client secret is made from the key for each request.
    package var teamID: String?
    /// The key that the account's tokens are bound to (RFC 9449); nil for bearer tokens.
    package var dpopKey: Secret?
    /// Whether access tokens are used that the server has bound to no key although the account has one (RFC 9449 §5).
    package var acceptsBearer: Bool
    /// `id_token_signed_response_alg` (RFC 7591): what the server signs the client's ID tokens by, as JOSE names it. Nil takes every
    /// algorithm with a public key, and none with the client secret.
    package var idTokenAlgorithm: String?
    /// How the client obtains tokens for itself; nil for an account whose grant a person gives.
    package var serviceGrant: ServiceGrant?
    /// The scope that is asked for when the grant is given (RFC 6749 §3.3), in the order given. Never sent on the account's own refresh:
    /// what was granted may be less, and is named there by `GrantedScope` only.
    package var scopes: [String]
    /// Parameters added to refresh requests, beyond those of RFC 6749 §6: `resource`, `audience`, a provider's own. See also `target`.
    package var refreshParameters: [String: String]
    /// Parameters added to authorization requests: `access_type`, `audience`, a provider's own.
    package var authorizationParameters: [String: String]
    /// What is asked for in detail (RFC 9396 §2): a JSON array of objects. Nil asks for scopes alone.
    package var authorizationDetails: String?
    /// Where browsers may be sent back to; what it does not say, the provider profile does.
    package var redirect: RegisteredRedirect
    /// The browser that people sign in with: a name, or an absolute path. Nil: the configuration's, or their own.
    package var loginBrowser: String?
    /// How the registration is changed and deleted; nil for a client that was registered by hand, or may not do that.
    package var management: RegistrationManagement?

    package init(
        clientID: String,
        authentication: ClientAuthentication? = nil,
        clientSecret: Secret? = nil,
        clientSecretExpiresAt: Timestamp? = nil,
        clientKey: Secret? = nil,
        clientKeyID: String? = nil,
        teamID: String? = nil,
        dpopKey: Secret? = nil,
        acceptsBearer: Bool = false,
        idTokenAlgorithm: String? = nil,
        serviceGrant: ServiceGrant? = nil,
        scopes: [String] = [],
        refreshParameters: [String: String] = [:],
        authorizationParameters: [String: String] = [:],
        authorizationDetails: String? = nil,
        redirect: RegisteredRedirect = RegisteredRedirect(),
        loginBrowser: String? = nil,
        management: RegistrationManagement? = nil
    ) {
        self.clientID = clientID
        self.authentication = authentication
        self.clientSecret = clientSecret
        self.clientSecretExpiresAt = clientSecretExpiresAt
        self.clientKey = clientKey
        self.clientKeyID = clientKeyID
        self.teamID = teamID
        self.dpopKey = dpopKey
        self.acceptsBearer = acceptsBearer
        self.idTokenAlgorithm = idTokenAlgorithm
        self.serviceGrant = serviceGrant
        self.scopes = scopes
        self.refreshParameters = refreshParameters
        self.authorizationParameters = authorizationParameters
        self.authorizationDetails = authorizationDetails
        self.redirect = redirect
        self.loginBrowser = loginBrowser
        self.management = management
    }
}

extension ClientRegistration {
    /// Which API the account's tokens are for: `resource` (RFC 8707) and `audience`, as `refreshParameters` name them.
    ///
    /// They are sent wherever tokens are asked for, sign-ins included (RFC 8707 §2): a grant that was given for another resource may not
    /// bring tokens for this one.
    package var target: [String: String] {
        refreshParameters.filter { name, _ in name == "resource" || name == "audience" }
    }

    /// The same as fields of a token request, in a fixed order.
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

/// How a client proves itself at the token endpoint; the raw values are the registered names (OpenID Connect Core §9).
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
    /// A certificate that the server's authorities signed (RFC 8705 §2.1).
    case tlsClientAuth = "tls_client_auth"
    /// A certificate that the server was told of (RFC 8705 §2.2).
    case selfSignedTLSClientAuth = "self_signed_tls_client_auth"

    /// What the method is done with.
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

/// How id and secret are written into the `Authorization` header.
///
/// RFC 6749 §2.3.1 wants them form-encoded first. Some servers (glewlwyd 2.7) take only the raw text, others
/// (django-oauth-toolkit) only the encoded one. It is found out at the first refusal, and remembered with the account.
package enum BasicCredentialEncoding: String, Hashable, Sendable, CaseIterable {
    case formEncoded = "form"
    case raw
}

/// Where the server was told that browsers are sent back to, when the client was registered (RFC 6749 §3.1.2.2).
package struct RegisteredRedirect: Hashable, Sendable {
    /// The redirect URI as it is registered: a fixed port and path on loopback, or a page of the owner's own.
    package var uri: String?
    /// The loopback port that is registered, 1...65535; nil if any will do (RFC 8252 §7.3).
    package var port: Int?
    /// The private-use scheme that is registered (RFC 8252 §7.1).
    package var scheme: String?
    /// Whether each authorization response must name its issuer (RFC 9207), even if the server does not promise that.
    package var requiresIssuer: Bool
    /// Where they are sent after a sign-out at the server (OpenID Connect RP-Initiated Logout §3); nil if nothing is registered.
    package var postLogoutURI: String?

    package init(
        uri: String? = nil,
        port: Int? = nil,
        scheme: String? = nil,
        requiresIssuer: Bool = false,
        postLogoutURI: String? = nil
    ) {
        self.uri = uri
        self.port = port
        self.scheme = scheme
        self.requiresIssuer = requiresIssuer
        self.postLogoutURI = postLogoutURI
    }

    /// Whether `text` can be a redirect URI: absolute, printable ASCII, without a fragment (RFC 6749 §3.1.2).
    package static func isURI(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7e).contains($0) } && text.contains(":") && !text.contains("#")
            && text.first?.isLetter == true
    }

    /// Whether `text` can be a scheme of one's own: RFC 8252 §7.1 wants a domain name in reverse, so at least one dot; `http` has none.
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
