/// How a service account obtains its tokens, as often as it wants to and with nobody at a browser.
package enum ServiceGrant: Hashable, Sendable {
    /// The client proves itself, and needs nothing more (RFC 6749 §4.4).
    case clientCredentials
    /// The client signs with its key whom the token is for (RFC 7523 §2.1).
    case jwtBearer(AssertionTerms)
    /// A token of another account here is exchanged for one of this account's own (RFC 8693).
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

    /// Nil for a grant without an assertion.
    package var assertion: AssertionTerms? {
        switch self {
        case .jwtBearer(let terms): terms
        case .clientCredentials, .tokenExchange: nil
        }
    }

    /// Nil for a grant that needs no other account.
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

    /// Takes over which accounts `other` is derived from, and on whose behalf: settings know accounts by their names only.
    package mutating func keepSources(of other: ServiceGrant?) {
        guard let kept = other?.exchange else { return }
        exchange?.subject.id = kept.subject.id
        exchange?.actor?.id = kept.actor?.id
        exchange?.deriver = kept.deriver
    }
}

/// What an assertion says beyond what its client's registration does (RFC 7523 §3).
package struct AssertionTerms: Hashable, Sendable {
    /// `sub`: whom the token is for. Nil: the client itself.
    package var subject: String?
    /// `aud`: the server, as it calls itself. Nil: what the provider profile says, or the URL of the token endpoint.
    package var audience: String?
    /// From `iat` to `exp`. Nil: as short as clocks allow.
    package var lifetime: Duration?

    /// The shortest and the longest that is asked for: below, clocks that differ make it useless; Google takes no more than an hour.
    package static let lifetimes = Duration.seconds(10)...Duration.seconds(3600)

    package init(subject: String? = nil, audience: String? = nil, lifetime: Duration? = nil) {
        self.subject = subject
        self.audience = audience
        self.lifetime = lifetime
    }
}

/// What a derived account's token is exchanged for (RFC 8693 §2.1).
package struct ExchangeTerms: Hashable, Sendable {
    /// On whose behalf the token is.
    package var subject: SourceToken
    /// Who acts on that one's behalf; nil: the client itself.
    package var actor: SourceToken?
    /// What kind of token is wanted; nil leaves it to the server.
    package var requestedType: TokenTypeIdentifier?
    /// The program that set the account up or changed it last. The exchange is made on its behalf: a source's list of allowed callers
    /// has to name it. Nil: nobody knows.
    package var deriver: SeenProgram?

    package init(subject: SourceToken, actor: SourceToken? = nil, requestedType: TokenTypeIdentifier? = nil) {
        self.subject = subject
        self.actor = actor
        self.requestedType = requestedType
    }

    /// The accounts that have to have tokens for it.
    package var sources: [SourceToken] { [subject] + (actor.map { [$0] } ?? []) }
}

/// A token of an account that another account's token is derived from.
package struct SourceToken: Hashable, Sendable {
    /// Its name, which a renaming follows; the last one that it had if it was removed.
    package var account: AccountName
    /// Which account it is. One that is added later under the same name is another. Nil: not looked up yet, or removed.
    package var id: AccountID?
    /// Which of its tokens; a JWT is its access token, said to be one.
    package var type: TokenTypeIdentifier

    package init(account: AccountName, id: AccountID? = nil, type: TokenTypeIdentifier = .accessToken) {
        self.account = account
        self.id = id
        self.type = type
    }
}

/// What kind of token is exchanged, or wanted (RFC 8693 §3); the raw values are the registered names.
package enum TokenTypeIdentifier: String, Hashable, Sendable, CaseIterable {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    case refreshToken = "urn:ietf:params:oauth:token-type:refresh_token"
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
    case saml1 = "urn:ietf:params:oauth:token-type:saml1"
    case saml2 = "urn:ietf:params:oauth:token-type:saml2"
    case jwt = "urn:ietf:params:oauth:token-type:jwt"
}
