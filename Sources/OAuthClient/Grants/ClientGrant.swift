package import OAuthMessages
package import RefreshCore

/// A grant that needs no person at a browser: the client obtains tokens by its own right, or exchanges a token that it
/// holds.
package enum ClientGrant: Sendable {
    /// The client acts for itself (RFC 6749 §4.4).
    case clientCredentials
    /// The client presents a signed assertion that names the person or service the token is for (RFC 7523 §2.1).
    case jwtBearer(assertion: Secret)
    /// The client exchanges a token that it holds for a token with another audience, resource or actor (RFC 8693).
    case tokenExchange(TokenExchange)
}

/// The parameters of a token exchange (RFC 8693 §2.1).
package struct TokenExchange: Sendable {
    /// The token of the person or service on whose behalf the request is made.
    package var subjectToken: Secret
    package var subjectTokenType: TokenTypeIdentifier
    /// The token of the acting party; nil if the client acts as itself.
    package var actorToken: Secret?
    /// The type of `actorToken`; sent only with it.
    package var actorTokenType: TokenTypeIdentifier
    /// The type of token to ask for; nil leaves it to the server.
    package var requestedTokenType: String?

    package init(subjectToken: Secret, subjectTokenType: TokenTypeIdentifier = .accessToken) {
        self.subjectToken = subjectToken
        self.subjectTokenType = subjectTokenType
        actorTokenType = .accessToken
    }
}

/// A request for tokens by a `ClientGrant`.
package struct ClientGrantRequest: Sendable {
    package var client: RequestingClient
    package var grant: ClientGrant
    /// The scopes to ask for. Empty leaves them to the server.
    package var scopes: [String] = []
    /// The resources that the token is for (RFC 8707 §2.2).
    package var resources: [String] = []
    /// The audience of the token (RFC 8693 §2.1; Auth0 uses the name for other grants, too); nil sends none.
    package var audience: String?
    /// The claims to ask for (OpenID Connect Core §5.5); nil sends none.
    package var claims: String?
    /// Added to the request, except those that the request itself sets.
    package var parameters: [String: String] = [:]

    /// The secrets that must not be shown if the server repeats them in an answer.
    var secrets: [Secret] {
        switch grant {
        case .clientCredentials: []
        case .jwtBearer(let assertion): [assertion]
        case .tokenExchange(let exchange): [exchange.subjectToken] + (exchange.actorToken.map { [$0] } ?? [])
        }
    }

    var fields: [(name: String, value: String)] {
        let separator = client.profile?.scopeSeparator ?? " "
        let own =
            grant.fields
            + (scopes.isEmpty ? [] : [("scope", scopes.joined(separator: separator))])
            + resources.map { ("resource", $0) }
            + (audience.map { [("audience", $0)] } ?? [])
            + (claims.map { [("claims", $0)] } ?? [])
            // RFC 9396 §6: if no person gives the grant, the token request names the details.
            + (client.registration.authorizationDetails.map { [("authorization_details", $0)] } ?? [])
        let rest = parameters.filter { name, _ in !own.contains { $0.name == name } }
        return own + rest.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension ClientGrant {
    /// Whether the grant's own fields say who the client is.
    var namesClient: Bool {
        switch self {
        case .jwtBearer: true
        case .clientCredentials, .tokenExchange: false
        }
    }

    fileprivate var fields: [(name: String, value: String)] {
        switch self {
        case .clientCredentials:
            [("grant_type", "client_credentials")]
        case .jwtBearer(let assertion):
            [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion.reveal())]
        case .tokenExchange(let exchange):
            exchange.fields
        }
    }
}

extension TokenExchange {
    fileprivate var fields: [(name: String, value: String)] {
        var fields = [
            (name: "grant_type", value: "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("subject_token", subjectToken.reveal()), ("subject_token_type", subjectTokenType.rawValue),
        ]
        if let actorToken {
            fields += [("actor_token", actorToken.reveal()), ("actor_token_type", actorTokenType.rawValue)]
        }
        if let requestedTokenType { fields.append(("requested_token_type", requestedTokenType)) }
        return fields
    }
}
