/// How a service account gets its tokens, at any time and without a person at a browser.
package enum ServiceGrant: Hashable, Sendable {
    /// The client authenticates and needs nothing else (RFC 6749 §4.4).
    case clientCredentials
    /// The client signs an assertion that says whom the token is for (RFC 7523 §2.1).
    case jwtBearer(AssertionTerms)
    /// A token of another account is exchanged for a token of this account (RFC 8693).
    case tokenExchange(ExchangeTerms)

    /// The grant without its terms; the raw values are the registered names of `grant_type`.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case clientCredentials = "client_credentials"
        case jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    }

    package var kind: Kind {
        switch self {
        case .clientCredentials: .clientCredentials
        case .jwtBearer: .jwtBearer
        case .tokenExchange: .tokenExchange
        }
    }

    /// The terms of the assertion; nil for a grant without one.
    package var assertion: AssertionTerms? {
        switch self {
        case .jwtBearer(let terms): terms
        case .clientCredentials, .tokenExchange: nil
        }
    }

    /// The terms of the exchange; nil for a grant that needs no other account.
    package var exchange: ExchangeTerms? {
        get {
            switch self {
            case .tokenExchange(let terms): terms
            case .clientCredentials, .jwtBearer: nil
            }
        }
        set {
            guard case .tokenExchange = self, let newValue else { return }
            self = .tokenExchange(newValue)
        }
    }

    /// Takes over the source accounts of `other`, and the program that it acts for. Settings know accounts only by
    /// name.
    package mutating func keepSources(of other: ServiceGrant?) {
        guard let kept = other?.exchange else { return }
        exchange?.subject.id = kept.subject.id
        exchange?.actor?.id = kept.actor?.id
        exchange?.deriver = kept.deriver
    }
}

/// What an assertion says beyond the client's registration (RFC 7523 §3).
package struct AssertionTerms: Hashable, Sendable {
    /// `sub`: whom the token is for; nil for the client itself.
    package var subject: String?
    /// `aud`: the server's name for itself; nil uses the provider profile's, or the URL of the token endpoint.
    package var audience: String?
    /// From `iat` to `exp`; nil uses the shortest time that clock differences allow.
    package var lifetime: Duration?

    package init(subject: String? = nil, audience: String? = nil, lifetime: Duration? = nil) {
        self.subject = subject
        self.audience = audience
        self.lifetime = lifetime
    }
}

/// What a derived account's token is exchanged for (RFC 8693 §2.1).
package struct ExchangeTerms: Hashable, Sendable {
    /// The token of the party on whose behalf the new token is.
    package var subject: SourceToken
    /// The token of the party that acts for the subject; nil for the client itself.
    package var actor: SourceToken?
    /// The URI of the requested type of token (RFC 8693 §3), which may be one that only the server knows; nil leaves the
    /// choice to the server.
    package var requestedType: String?
    /// The program that created the account or changed it last; nil if unknown. The exchange is made on its behalf, so
    /// the source's list of allowed callers must name it.
    package var deriver: SeenProgram?

    package init(subject: SourceToken, actor: SourceToken? = nil, requestedType: String? = nil) {
        self.subject = subject
        self.actor = actor
        self.requestedType = requestedType
    }

    /// The accounts that must have tokens before the exchange.
    package var sources: [SourceToken] { [subject] + (actor.map { [$0] } ?? []) }
}

/// A token of another account, from which this account's token is derived.
package struct SourceToken: Hashable, Sendable {
    /// The name of the other account. It follows a renaming; after a removal it is the last name.
    package var account: AccountName
    /// The number of the other account; nil if it has not been looked up yet, or was removed. An account added later
    /// under the same name is a different one.
    package var id: AccountID?
    /// Which of its tokens is used. A JWT is the account's access token, declared as a JWT.
    package var type: TokenTypeIdentifier

    package init(account: AccountName, id: AccountID? = nil, type: TokenTypeIdentifier = .accessToken) {
        self.account = account
        self.id = id
        self.type = type
    }
}

/// The type of a token in an exchange (RFC 8693 §3). The raw values are the registered names.
package enum TokenTypeIdentifier: String, Hashable, Sendable, CaseIterable {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    case refreshToken = "urn:ietf:params:oauth:token-type:refresh_token"
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
    case saml1 = "urn:ietf:params:oauth:token-type:saml1"
    case saml2 = "urn:ietf:params:oauth:token-type:saml2"
    case jwt = "urn:ietf:params:oauth:token-type:jwt"
}
