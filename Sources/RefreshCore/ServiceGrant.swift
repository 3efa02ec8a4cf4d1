/// How a service account obtains its tokens, as often as it wants to and with nobody at a browser.
package enum ServiceGrant: Hashable, Sendable {
    /// The client proves itself, and needs nothing more (RFC 6749 §4.4).
    case clientCredentials
    /// The client signs with its key whom the token is for (RFC 7523 §2.1).
    case jwtBearer(AssertionTerms)

    /// The grant without its terms; the raw values are the registered names of `grant_type`.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case clientCredentials = "client_credentials"
        case jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    }

    package var kind: Kind {
        switch self {
        case .clientCredentials: .clientCredentials
        case .jwtBearer: .jwtBearer
        }
    }

    /// Nil for a grant without an assertion.
    package var assertion: AssertionTerms? {
        switch self {
        case .jwtBearer(let terms): terms
        case .clientCredentials: nil
        }
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
