package import RefreshCore

/// What a provider profile says about signing in.
package struct SignInProfile: Hashable, Sendable {
    /// Parameters to add to authorization requests. The account's own parameters are preferred.
    package var authorizationParameters: [String: String] = [:]
    /// The scopes to ask for if the account names none.
    package var scopes: [String] = []
    /// The parameter for the scopes; nil means `scope`. Slack uses `user_scope` for user tokens.
    package var scopeParameter: String?
    /// Whether to use a code challenge. Nil: one is sent, and the server's metadata says whether the server checks it.
    package var pkce: PKCE?
    /// The kinds of redirect URI that the provider accepts, the best first; empty if that is not known.
    package var redirects: [RedirectKind] = []
    /// A fixed redirect URI: a page of the user's own that passes the answer on, or a registered one.
    package var redirectURI: String?
    /// The registered loopback port; nil if the provider accepts any (RFC 8252 §7.3).
    package var redirectPort: Int?
    /// The registered private-use scheme (RFC 8252 §7.1).
    package var redirectScheme: String?
    /// The response mode; nil leaves it to the server, which uses the query for codes.
    package var responseMode: ResponseMode?
    /// Names that the code may have in the answer instead of `code`: Amazon's `spapi_oauth_code`.
    package var codeParameters: [String] = []
    /// Fields of the authorization response that are kept with the account, such as Intuit's `realmId`.
    package var callbackFields: [String] = []
    /// Whether the authorization response must name its issuer (RFC 9207). Nil: the server's metadata decides.
    package var callbackIssuer: CallbackIssuer?
    /// Whether an ID token is required. Nil: required if `openid` was asked for (OpenID Connect Core §3.1.3.3), else
    /// optional.
    package var idToken: IDTokenDemand?
    /// Whether asking for the person's consent may bring a refresh token where there was none (OpenID Connect Core
    /// §11). False for Entra: it needs no consent for that, and asking may require an administrator.
    package var consentMayHelp = true
    /// When to push authorization requests (RFC 9126).
    package var pushedRequests = PushedRequests.usual
    /// The field of the UserInfo answer that identifies the person; nil means `sub`. GitHub's is `id`.
    package var userSubject: String?
    /// The field of the UserInfo answer with the name that the person signs in with; nil means `preferred_username`.
    /// GitHub's is `login`.
    package var userName: String?

    package init() {}

    /// Whether authorization requests carry a code challenge, and code exchanges its verifier.
    package var sendsCodeChallenge: Bool { pkce != .unsupported }

    /// Whether the profile says anything about redirect URIs.
    package var namesRedirects: Bool {
        !redirects.isEmpty || redirectURI != nil || redirectPort != nil || redirectScheme != nil
    }

    /// This profile for a client that was registered with redirect URIs of its own.
    package func registered(with redirect: RegisteredRedirect) -> SignInProfile {
        guard redirect.uri != nil || redirect.port != nil || redirect.scheme != nil else { return self }
        var own = self
        // The profile's URI includes port and scheme: a client that registered another port or scheme does not use it.
        own.redirectURI = redirect.uri
        own.redirectPort = redirect.port ?? redirectPort
        own.redirectScheme = redirect.scheme ?? redirectScheme
        return own
    }
}

/// When to propose `prompt=consent` to a person to whom the server gave no refresh token. The raw values are those of
/// configuration files.
enum ConsentPrompt: String, CaseIterable {
    case usual
    case never
}

/// When to push authorization requests (RFC 9126). The raw values are those of configuration files.
package enum PushedRequests: String, Hashable, Sendable, CaseIterable {
    /// If the client authenticates, or the server's metadata requires it.
    case usual
    /// Always. For a server that requires it only of this client and does not publish that (§6,
    /// `require_pushed_authorization_requests`).
    case always
    case never
}

/// How the code is bound to this client (RFC 7636).
package enum PKCE: String, Hashable, Sendable, CaseIterable {
    /// The provider checks challenges of the method S256.
    case s256
    /// The provider refuses requests with a challenge, or does not check it. None is sent.
    case unsupported = "none"
}

/// How the browser's answer comes back to this program.
package enum RedirectKind: String, Hashable, Sendable, CaseIterable {
    /// `http://127.0.0.1:PORT` (RFC 8252 §7.3).
    case loopback
    /// `http://localhost:PORT`, for providers that accept only the name.
    case loopbackByName = "loopback-localhost"
    /// A private-use scheme (RFC 8252 §7.1).
    case scheme
    /// A page with https.
    case https
    /// By hand: the provider shows the code, or the person pastes the redirected URL.
    case paste
}

/// How the authorization response is sent (OAuth 2.0 Multiple Response Types §2.1, Form Post §2).
package enum ResponseMode: String, Hashable, Sendable, CaseIterable {
    case query
    case formPost = "form_post"
}

/// Whether an authorization response without `iss` is accepted (RFC 9207 §2.4).
package enum CallbackIssuer: String, Hashable, Sendable, CaseIterable {
    case required
    case optional
}

/// How the ID token of an answer is treated.
package enum IDTokenDemand: String, Hashable, Sendable, CaseIterable {
    /// An answer without an ID token is refused.
    case required
    /// An ID token is validated if there is one.
    case optional
    /// ID tokens are neither validated nor kept, because those of this provider are useless.
    case ignored
}

extension SignInProfile {
    enum Key: String, CaseIterable {
        case authorizationParameters = "authorization_parameters"
        case scopes
        case scopeParameter = "scope_parameter"
        case pkce, redirects
        case redirectURI = "redirect_uri"
        case redirectPort = "redirect_port"
        case redirectScheme = "redirect_scheme"
        case responseMode = "response_mode"
        case codeParameter = "code_parameter"
        case callbackFields = "callback_fields"
        case callbackIssuer = "callback_iss"
        case idToken = "id_token"
        case consentPrompt = "consent_prompt"
        case pushedRequests = "pushed_authorization_requests"
        case userSubject = "userinfo_subject"
        case userName = "userinfo_username"
    }

    /// - Throws: `DecodingError` at the key whose value cannot be used.
    init(_ fields: StrictFields) throws {
        authorizationParameters = try fields.optional(Key.authorizationParameters.rawValue) ?? [:]
        if let name = ReservedParameter.first(
            in: authorizationParameters,
            among: ReservedParameter.authorizationNames
        ) {
            throw fields.error(Key.authorizationParameters.rawValue, reservedParameter: name)
        }
        scopes = try fields.words(Key.scopes.rawValue)
        scopeParameter = try fields.word(Key.scopeParameter.rawValue)
        pkce = try fields.choice(Key.pkce.rawValue)
        redirects = try fields.choices(Key.redirects.rawValue)
        responseMode = try fields.choice(Key.responseMode.rawValue)
        codeParameters = try fields.words(Key.codeParameter.rawValue)
        callbackFields = try fields.words(Key.callbackFields.rawValue)
        callbackIssuer = try fields.choice(Key.callbackIssuer.rawValue)
        idToken = try fields.choice(Key.idToken.rawValue)
        consentMayHelp = try fields.choice(Key.consentPrompt.rawValue) != ConsentPrompt.never
        pushedRequests = try fields.choice(Key.pushedRequests.rawValue) ?? .usual
        userSubject = try fields.word(Key.userSubject.rawValue)
        userName = try fields.word(Key.userName.rawValue)
        try readRedirect(fields)
    }

    private mutating func readRedirect(_ fields: StrictFields) throws {
        redirectURI = try fields.converted(Key.redirectURI.rawValue, "must be an absolute URI without a fragment") {
            RegisteredRedirect.isURI($0) ? $0 : nil
        }
        redirectPort = try fields.optional(Key.redirectPort.rawValue)
        if let port = redirectPort, !RegisteredRedirect.isPort(port) {
            throw fields.error(Key.redirectPort.rawValue, "must be a port from 1 to 65535")
        }
        redirectScheme = try fields.converted(
            Key.redirectScheme.rawValue,
            "must be a URI scheme of your own, such as org.example.mail"
        ) {
            RegisteredRedirect.isScheme($0) ? $0 : nil
        }
    }
}

extension StrictFields {
    /// The key's value as a case of an enumeration; nil if the key is absent.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String,
        among choices: [Choice] = Array(Choice.allCases)
    ) throws -> Choice? where Choice.RawValue == String {
        let values = choices.map(\.rawValue).joined(separator: ", ")
        return try converted(name, choices.count == 1 ? "must be \(values)" : "must be one of \(values)") { text in
            choices.first { $0.rawValue == text }
        }
    }

    /// The key's values as cases of an enumeration; empty if the key is absent.
    func choices<Choice: RawRepresentable & CaseIterable>(_ name: String) throws -> [Choice]
    where Choice.RawValue == String {
        let texts: [String] = try optional(name) ?? []
        return try texts.map { text in
            guard let choice = Choice(rawValue: text) else {
                let values = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw error(name, "must be a list, each value one of \(values)")
            }
            return choice
        }
    }

    /// A list of printable ASCII words. A single word may be written without brackets. Empty if the key is absent.
    package func words(_ name: String) throws -> [String] {
        let list: [String]? = try? optional(name)
        let words = try list ?? (optional(name) as String?).map { [$0] } ?? []
        guard words.allSatisfy(\.isWord) else { throw error(name, "must be a list of words") }
        return words
    }
}

extension String {
    /// Whether the text is printable ASCII without spaces, and not empty.
    package var isWord: Bool {
        !isEmpty && utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
