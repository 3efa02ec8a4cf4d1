package import OAuthMessages
package import RefreshCore

/// A grant that needs no person at a browser: what the client itself may, or what it holds, is exchanged for tokens.
package enum ClientGrant: Sendable {
    /// The client acts for itself (RFC 6749 §4.4).
    case clientCredentials
    /// A signed assertion about whom the token is for (RFC 7523 §2.1).
    case jwtBearer(assertion: Secret)
    /// A token for another audience, resource or actor, derived from one that is held (RFC 8693).
    case tokenExchange(TokenExchange)
}

/// What RFC 8693 §2.1 wants to know.
package struct TokenExchange: Sendable {
    /// The token that says on whose behalf.
    package var subjectToken: Secret
    package var subjectTokenType: TokenTypeIdentifier
    /// The token of the acting party; nil if the client acts as itself.
    package var actorToken: Secret?
    /// Sent with `actorToken` only.
    package var actorTokenType: TokenTypeIdentifier
    /// Nil leaves it to the server.
    package var requestedTokenType: TokenTypeIdentifier?

    package init(subjectToken: Secret, subjectTokenType: TokenTypeIdentifier = .accessToken) {
        self.subjectToken = subjectToken
        self.subjectTokenType = subjectTokenType
        actorTokenType = .accessToken
    }
}

/// What it takes to obtain tokens by a `ClientGrant`.
package struct ClientGrantRequest: Sendable {
    package var client: RequestingClient
    package var grant: ClientGrant
    /// Empty leaves it to the server.
    package var scopes: [String]
    /// RFC 8707 §2.2.
    package var resources: [String] = []
    /// RFC 8693 §2.1, and Auth0's word elsewhere; nil sends none.
    package var audience: String?
    /// OpenID Connect Core §5.5; nil sends none.
    package var claims: String?
    /// Added to the request, unless it names them itself.
    package var parameters: [String: String] = [:]

    package init(
        client: RequestingClient,
        grant: ClientGrant,
        scopes: [String] = []
    ) {
        self.client = client
        self.grant = grant
        self.scopes = scopes
    }

    /// What must not be shown when a server says it back.
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
            // RFC 9396 §6: a grant that no person gives says it here.
            + (client.registration.authorizationDetails.map { [("authorization_details", $0)] } ?? [])
        let rest = parameters.filter { name, _ in !own.contains { $0.name == name } }
        return own + rest.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension ClientGrant {
    /// Whether it says itself who the client is.
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
        if let requestedTokenType { fields.append(("requested_token_type", requestedTokenType.rawValue)) }
        return fields
    }
}
