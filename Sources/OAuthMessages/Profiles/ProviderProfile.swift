package import RefreshCore

/// What has to be known about a provider beyond its metadata; one YAML file in `providers.d` each.
///
/// All fields but `name` may be absent. Unknown keys are errors, so that a typing mistake cannot turn a setting off.
package struct ProviderProfile: Hashable, Sendable {
    /// What accounts refer to: `google`.
    package var name: String
    /// Where the provider documents what this profile says.
    package var documentation: String?
    /// Where the owner of an account gets a client id: one line for people.
    package var clientIDHint: String?
    /// What stands in braces in the URLs, in the order in which it is asked for.
    package var variables: [ProfileVariable] = []
    /// The URLs that have variables in them, by their keys; below they are nil, or filled in.
    package var templates: [String: String] = [:]
    /// The issuer of accounts that name only the provider.
    package var issuer: Issuer?
    /// What the metadata may say as `issuer` instead of the account's:
    /// `https://login.microsoftonline.com/{tenantid}/v2.0`.
    package var issuerTemplate: String?
    /// What id_tokens may say as `iss` beside the issuer: Google's older ones have no scheme. May have variables in them, which are filled
    /// in with the rest; where the account's own policy is in one, the server may write it in lower case.
    package var issuerAliases: [String] = []
    /// Stands for the whole metadata: with it nothing is fetched.
    package var tokenEndpoint: Endpoint?
    /// Where refreshes go if not to the token endpoint (Figma).
    package var refreshEndpoint: Endpoint?
    /// RFC 7009; goes before the published one, as the others do.
    package var revocationEndpoint: Endpoint?
    /// The same with the place of the account's client id in it; `revocationEndpoint` is nil then.
    var revocationTemplate: String?
    package var revocationForm = RevocationForm()
    /// Where the access token of a sign-in is exchanged for one that lasts; nil exchanges none (Instagram has one).
    package var exchangeEndpoint: Endpoint?
    package var exchangeForm = ExchangeForm()
    /// RFC 7662: asked how long an access token lives whose answer does not say it (Salesforce). Nil asks nobody.
    package var introspectionEndpoint: Endpoint?
    /// The user name with which the provider's git server takes a token as the password; nil: any.
    package var gitUsername: String?
    /// How it takes a token if git can send it in either way.
    package var gitAuthorization = GitAuthorization.basic
    package var endpoints: ServerEndpoints
    /// How token requests are written.
    package var bodyFormat: BodyFormat
    /// Used if the account's registration says nothing.
    package var authentication: ClientAuthentication?
    /// How the client secret stands in the `Authorization` header of clients that show it there.
    package var clientSecretScheme = ClientSecretScheme.basic
    /// What client assertions name as their audience; nil tries the issuer first, then the token endpoint.
    package var assertionAudience: AssertionAudience?
    package var refreshForm = RefreshForm()
    /// Added to refresh requests; the account's own parameters win. A value may have the place of a variable in it, or that of the
    /// account's redirect URI (`{redirect_uri}`); one whose redirect URI is not fixed sends no such parameter.
    package var refreshParameters: [String: String]
    /// Added to revocation requests.
    package var revocationParameters: [String: String]
    /// Headers added to token and revocation requests, such as the `Origin` of Entra's single-page apps.
    package var headers: [String: String]
    /// The header that carries the correlation id: Microsoft takes `client-request-id`. Nil sends none.
    package var correlationHeader: String?
    /// What separates the scopes of an answer; nil means a space (RFC 6749 §3.3).
    package var scopeSeparator: String?
    /// Where in the answer the tokens are, outermost name first: `["authed_user"]`; nil means at the top.
    package var tokenPath: [String]?
    /// Fields of the answer that are kept with the account, such as Salesforce's `instance_url`; dots lead into objects.
    package var tokenFields: [String]
    /// Lifetime of access tokens whose answer does not say it.
    package var defaultLifetime: ProfileDuration?
    /// What `expires_in: 0` means.
    package var zeroLifetime = ZeroLifetime.ended
    /// How long a refresh token lives, if the answer does not say it.
    package var refreshTokenLifetime: ProfileDuration?
    /// What that is counted from.
    package var refreshTokenLifetimeStart = RefreshTokenLifetimeStart.use
    /// How long the server still takes a refresh token after it was rotated.
    package var rotationGrace: ProfileDuration?
    /// Answers that end a grant although they have no error code.
    package var grantEnded: [GrantEndedAnswer] = []
    /// PEM file with certificate authorities trusted for this provider beside the system's.
    package var caFile: String?
    package var maxConcurrentRefreshes: Int?
    package var maxRefreshesPerSecond: Double?
    /// The access token opens nothing, and a refresh only asks whether the grant still stands: at most once in this time (Apple: a day).
    package var validateAtMost: ProfileDuration?
    /// What a sign-in has to know.
    package var signIn: SignInProfile
    package var policies = SignInPolicies()
    /// What people have to know.
    package var notes: [ProfileNote] = []
    /// What accounts have to say before anybody can sign in.
    package var requiredSettings: [RequiredSetting] = []
    /// What to ask for, by what it is for: `mail`, `calendar`, `files`.
    package var scopesByPurpose: [String: [String]] = [:]
    /// The parameter of the end-session address that carries where the browser goes afterwards; nil means `post_logout_redirect_uri`
    /// (OpenID Connect RP-Initiated Logout §2). A provider with a name of its own (Amazon Cognito: `logout_uri`) is shown no id_token.
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

/// How a git server takes a token; the raw values are those of configuration files.
package enum GitAuthorization: String, Hashable, Sendable, CaseIterable {
    /// As the password of a user name.
    case basic
    /// In an `Authorization: Bearer` header.
    case bearer
}

/// What a server means by `expires_in: 0`; the raw values are those of configuration files.
package enum ZeroLifetime: String, Hashable, Sendable, CaseIterable, Decodable {
    /// Nothing is left of the token's life.
    case ended
    /// The token has no end.
    case never
}

/// What the lifetime of a refresh token is counted from; the raw values are those of configuration files.
package enum RefreshTokenLifetimeStart: String, Hashable, Sendable, CaseIterable {
    /// The last use: an idle time.
    case use
    /// The sign-in, whatever is done meanwhile: an absolute end.
    case signIn = "sign-in"
}

/// A time span as configuration files write it: `90d`, `12h`, `5m`, `30s`, or a number of seconds.
package struct ProfileDuration: Hashable, Sendable {
    package let duration: Duration

    package init(_ duration: Duration) {
        self.duration = duration
    }

    /// Nil if `text` is no such span, or is longer than 100 years.
    package init?(_ text: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let last = text.last else { return nil }
        let unit = units[last]
        guard let count = Int64(unit == nil ? text[...] : text.dropLast()), (1...3_155_760_000).contains(count) else {
            return nil
        }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow, seconds <= 3_155_760_000 else { return nil }
        duration = .seconds(seconds)
    }
}

/// Names that a profile's or an account's extra parameters may not have: they would change what the request means. `redirect_uri` may
/// be sent: Yahoo documents it for refreshes.
package enum ReservedParameter {
    /// What is wrong with a request that has one.
    package static let summary = "an extra parameter has a name that the request itself uses"

    package static let names: Set<String> = [
        "grant_type", "refresh_token", "client_id", "client_secret", "client_assertion", "client_assertion_type",
        "token", "token_type_hint", "code", "code_verifier", "username", "password", "assertion",
        "device_code", "subject_token", "actor_token",
    ]

    /// The same for authorization requests (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 9101 §5). Those that have a setting of their own
    /// belong there.
    package static let authorizationNames: Set<String> = [
        "response_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "redirect_uri",
        "response_mode", "scope", "state", "nonce", "code", "code_challenge", "code_challenge_method", "code_verifier",
        "request", "request_uri", "registration", "authorization_details",
    ]

    /// The first name of `parameters`, in alphabetical order, that is reserved; nil if all may be sent.
    package static func first(in parameters: [String: String], among names: Set<String> = names) -> String? {
        parameters.keys.sorted().first { names.contains($0.lowercased()) }
    }
}

/// Names and values that a profile's extra headers may have.
enum ProfileHeader {
    /// Headers that the request sets itself, or that would change where it goes.
    private static let reserved: Set<String> = [
        "authorization", "proxy-authorization", "host", "content-length", "content-type", "transfer-encoding",
        "connection", "accept", "accept-encoding", "expect", "te", "upgrade", "cookie",
    ]

    static func isAllowed(name: String, value: String) -> Bool {
        let isToken = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default:
                false
            }
        }
        return !name.isEmpty && name.utf8.allSatisfy(isToken) && !reserved.contains(name.lowercased())
            && value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}

/// An answer by which a provider says, without an error code of RFC 6749 §5.2, that a grant has ended.
///
/// In YAML: `{status: 403, field: message, text: "refresh_token is invalid"}`, or `{status: 400}` for one with an empty body.
package struct GrantEndedAnswer: Hashable, Sendable {
    /// 200...299 or 400...499; whatever a profile says, 429 and its kin never are the end of a grant.
    package var status: Int
    /// The field that tells, names joined by dots, or a place in a list, from 0; nil if the body is empty.
    package var field: String?
    /// What it holds, whatever the case of its letters; nil if the body is empty.
    package var text: String?

    /// - Parameter workedBefore: whether the same form of request was answered with tokens before. An empty body may mean the client's
    ///   secret as well as the grant.
    package func fits(_ answer: Answer, _ body: AnswerBody, workedBefore: Bool) -> Bool {
        guard answer.status == status else { return false }
        guard let field, let text else { return body.kind == .empty && workedBefore }
        var place: JSONValue? = .object(body.fields)
        for step in field.split(separator: ".") { place = place?.member(String(step)) }
        return place?.word?.lowercased() == text.lowercased()
    }
}

extension GrantEndedAnswer: Decodable {
    private enum Key: String, CaseIterable {
        case status, field, text
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: Key.allCases.map(\.rawValue))
        status = try fields.required(Key.status.rawValue)
        field = try fields.optional(Key.field.rawValue)
        text = try fields.optional(Key.text.rawValue)
        guard (200...299).contains(status) || (400...499).contains(status) else {
            throw fields.error(Key.status.rawValue, "must be 200 to 299 or 400 to 499")
        }
        guard (field == nil) == (text == nil) else {
            throw fields.error(Key.field.rawValue, "and \"text\" go together")
        }
    }
}
