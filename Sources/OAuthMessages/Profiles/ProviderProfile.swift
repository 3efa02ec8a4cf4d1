package import RefreshCore

/// What this program has to know about a provider in addition to its metadata. Each profile is a YAML file in
/// `providers.d`.
///
/// All fields but `name` may be absent. Unknown keys are errors, because a typing mistake could otherwise turn a
/// setting off.
package struct ProviderProfile: Hashable, Sendable {
    /// The name by which accounts refer to the profile: `google`.
    package var name: String
    /// Where the provider documents what this profile says.
    package var documentation: String?
    /// Where the owner of an account gets a client id: one line for people.
    package var clientIDHint: String?
    /// The variables in the URLs, in the order in which people are asked for them.
    package var variables: [ProfileVariable] = []
    /// The URLs that contain variables, by their keys. The properties below are nil for them, or filled in.
    package var templates: [String: String] = [:]
    /// The issuer of accounts that name only the provider.
    package var issuer: Issuer?
    /// The `issuer` that the metadata may have instead of the account's:
    /// `https://login.microsoftonline.com/{tenantid}/v2.0`.
    package var issuerTemplate: String?
    /// The values of `iss` that ID tokens may have instead of the issuer. Google's older ones have no scheme. Variables
    /// in them are filled in like others. If one contains the account's policy, the server may write it in lower case.
    package var issuerAliases: [String] = []
    /// The token endpoint. If it is set, it replaces all metadata, and nothing is fetched.
    package var tokenEndpoint: Endpoint?
    /// Where refreshes are sent, if not to the token endpoint (Figma).
    package var refreshEndpoint: Endpoint?
    /// Where tokens are revoked (RFC 7009). Preferred to the published endpoint, as the others are.
    package var revocationEndpoint: Endpoint?
    /// The revocation endpoint if it contains the account's client id. `revocationEndpoint` is nil then.
    var revocationTemplate: String?
    package var revocationForm = RevocationForm()
    /// Where the access token of a sign-in is exchanged for one that lasts longer (Instagram); nil to exchange none.
    package var exchangeEndpoint: Endpoint?
    package var exchangeForm = ExchangeForm()
    /// The endpoint that is asked how long an access token lives if the answer with the token does not say so (RFC
    /// 7662, Salesforce). Nil to ask nowhere.
    package var introspectionEndpoint: Endpoint?
    /// The user name with which the provider's git server accepts a token as password; nil if any will do.
    package var gitUsername: String?
    /// How the provider's git server accepts a token, if git can send it in both ways.
    package var gitAuthorization = GitAuthorization.basic
    package var endpoints: ServerEndpoints
    /// The format of token requests.
    package var bodyFormat: BodyFormat
    /// How clients authenticate, if the account's registration does not say.
    package var authentication: ClientAuthentication?
    /// The form of the client secret in the `Authorization` header, for clients that send it there.
    package var clientSecretScheme = ClientSecretScheme.basic
    /// The audience of client assertions; nil tries the issuer first, then the token endpoint.
    package var assertionAudience: AssertionAudience?
    package var refreshForm = RefreshForm()
    /// Parameters to add to refresh requests; the account's own parameters are preferred. A value may contain a
    /// variable, or the account's redirect URI (`{redirect_uri}`). If the redirect URI is not fixed, a parameter with
    /// it is not sent.
    package var refreshParameters: [String: String]
    /// Parameters to add to revocation requests.
    package var revocationParameters: [String: String]
    /// Headers to add to token and revocation requests, such as the `Origin` for Entra's single-page apps.
    package var headers: [String: String]
    /// The header for the correlation id: Microsoft reads `client-request-id`. Nil sends none.
    package var correlationHeader: String?
    /// The separator of the scopes in an answer; nil means a space (RFC 6749 §3.3).
    package var scopeSeparator: String?
    /// Where in the answer the tokens are, the outermost name first: `["authed_user"]`. Nil means at the top.
    package var tokenPath: [String]?
    /// Fields of the answer that are kept with the account, such as Salesforce's `instance_url`. Dots separate the
    /// names of nested objects.
    package var tokenFields: [String]
    /// The lifetime of access tokens if the answer does not say it.
    package var defaultLifetime: Duration?
    /// The meaning of `expires_in: 0`.
    package var zeroLifetime = ZeroLifetime.ended
    /// The lifetime of refresh tokens if the answer does not say it.
    package var refreshTokenLifetime: Duration?
    /// When the lifetime of a refresh token begins.
    package var refreshTokenLifetimeStart = RefreshTokenLifetimeStart.use
    /// How long the server still accepts a refresh token after it was rotated.
    package var rotationGrace: Duration?
    /// What becomes of the grant after a request for fewer scopes; nil if that is unknown.
    package var narrowedScopes: NarrowedScopes?
    /// Answers that end a grant although they have no error code.
    package var grantEnded: [GrantEndedAnswer] = []
    /// PEM file with certificate authorities that are trusted for this provider in addition to the system's.
    package var caFile: String?
    package var maxConcurrentRefreshes: Int?
    package var maxRefreshesPerSecond: Double?
    /// The shortest time between two refreshes, for a provider whose access token opens no API, so that refreshes only
    /// check whether the grant is still valid (Apple: a day).
    package var validateAtMost: Duration?
    /// What the profile says about signing in.
    package var signIn: SignInProfile
    package var policies = SignInPolicies()
    /// Notes for people.
    package var notes: [ProfileNote] = []
    /// Settings that an account needs before anybody can sign in.
    package var requiredSettings: [RequiredSetting] = []
    /// How the provider's mail servers take a token, the best first; empty if it has none, nil if that is not known.
    package var sasl: [SASLMechanism]?
    /// The scopes to ask for, by purpose: `mail`, `calendar`, `files`.
    package var scopesByPurpose: [String: [String]] = [:]
    /// The parameter of the end-session address that says where the browser goes afterwards; nil means
    /// `post_logout_redirect_uri` (OpenID Connect RP-Initiated Logout §2). A provider with a parameter of its own
    /// (Amazon Cognito: `logout_uri`) gets no ID token.
    package var endSessionRedirectParameter: String?

    package init(name: String, tokenEndpoint: Endpoint? = nil, revocationEndpoint: Endpoint? = nil) {
        self.name = name
        self.tokenEndpoint = tokenEndpoint
        self.revocationEndpoint = revocationEndpoint
        endpoints = ServerEndpoints()
        bodyFormat = .form
        tokenFields = []
        signIn = SignInProfile()
        refreshParameters = [:]
        revocationParameters = [:]
        headers = [:]
    }
}

/// How a git server accepts a token. The raw values are those of configuration files.
package enum GitAuthorization: String, Hashable, Sendable, CaseIterable {
    /// As the password, with a user name.
    case basic
    /// In an `Authorization: Bearer` header.
    case bearer
}

/// The meaning of `expires_in: 0`. The raw values are those of configuration files.
package enum ZeroLifetime: String, Hashable, Sendable, CaseIterable, Decodable {
    /// The token has expired.
    case ended
    /// The token never expires.
    case never
}

/// What becomes of a grant after a request for a token with fewer scopes (RFC 6749 §6). The raw values are those of
/// configuration files.
package enum NarrowedScopes: String, Hashable, Sendable, CaseIterable {
    /// Only that token has fewer.
    case kept
    /// The refresh token that comes with it has fewer, too.
    case lost
}

/// When the lifetime of a refresh token begins. The raw values are those of configuration files.
package enum RefreshTokenLifetimeStart: String, Hashable, Sendable, CaseIterable {
    /// At the last use: the token expires if it is not used.
    case use
    /// At the sign-in: the token expires even if it is used.
    case signIn = "sign-in"
}

extension Duration {
    /// A time span as configuration files write it: `90d`, `12h`, `5m`, `30s`, or a number of seconds.
    ///
    /// Nil if `text` is not such a time span, or is longer than 100 years.
    package init?(written text: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let last = text.last else { return nil }
        let unit = units[last]
        guard let count = Int64(unit == nil ? text[...] : text.dropLast()), (1...3_155_760_000).contains(count) else {
            return nil
        }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow, seconds <= 3_155_760_000 else { return nil }
        self = .seconds(seconds)
    }
}

/// The names that extra parameters of profiles and accounts must not have, because they would change the meaning of the
/// request. `redirect_uri` is not among them: Yahoo documents it for refreshes.
package enum ReservedParameter {
    package static let names: Set<String> = [
        "grant_type", "refresh_token", "client_id", "client_secret", "client_assertion", "client_assertion_type",
        "token", "token_type_hint", "code", "code_verifier", "username", "password", "assertion",
        "device_code", "subject_token", "actor_token",
    ]

    /// The reserved names for authorization requests (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 9101 §5), and those that have
    /// a setting of their own.
    package static let authorizationNames: Set<String> = [
        "response_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "redirect_uri",
        "response_mode", "scope", "state", "nonce", "code", "code_challenge", "code_challenge_method", "code_verifier",
        "request", "request_uri", "registration", "authorization_details",
    ]

    /// The first name of `parameters`, in alphabetical order, that is reserved; nil if none is.
    package static func first(in parameters: [String: String], among names: Set<String> = names) -> String? {
        parameters.keys.sorted().first { names.contains($0.lowercased()) }
    }
}

/// An answer with which a provider says that a grant has ended, without an error code of RFC 6749 §5.2.
///
/// In YAML: `{status: 403, field: message, text: "refresh_token is invalid"}`, or `{status: 400}` for an answer with an
/// empty body.
package struct GrantEndedAnswer: Hashable, Sendable {
    /// The status: 200...299 or 400...499. A 429 or another status for "try again" never ends a grant, whatever a
    /// profile says.
    package var status: Int
    /// The field to look at, as names or list indexes (from 0) joined by dots; nil if the body is empty.
    package var field: String?
    /// The text in the field, compared without regard to case; nil if the body is empty.
    package var text: String?

    /// - Parameter workedBefore: whether the same form of request was answered with tokens before. Without that, an
    ///   empty body may mean a wrong client secret as well as the end of the grant.
    package func fits(_ answer: Answer, _ body: AnswerBody, workedBefore: Bool) -> Bool {
        guard answer.status == status else { return false }
        guard let field, let text else { return body.kind == .empty && workedBefore }
        var place: JSONTree? = .object(body.fields)
        for step in field.split(separator: ".") { place = place?.member(String(step)) }
        return place?.word?.lowercased() == text.lowercased()
    }
}

extension GrantEndedAnswer: Decodable {
    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: ["status", "field", "text"])
        status = try fields.required("status")
        field = try fields.optional("field")
        text = try fields.optional("text")
        guard (200...299).contains(status) || (400...499).contains(status) else {
            throw fields.error("status", "must be from 200 to 299, or from 400 to 499")
        }
        guard (field == nil) == (text == nil) else {
            let (lacking, other) = field == nil ? ("field", "text") : ("text", "field")
            throw fields.error(lacking, "is missing, but \"\(other)\" is set")
        }
    }
}
