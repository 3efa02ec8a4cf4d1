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
    /// What id_tokens may say as `iss` beside the issuer: Google's older ones have no scheme.
    package var issuerAliases: [String] = []
    /// Stands for the whole metadata: with it nothing is fetched.
    package var tokenEndpoint: Endpoint?
    /// Where refreshes go if not to the token endpoint (Figma).
    package var refreshEndpoint: Endpoint?
    /// RFC 7009; goes before the published one, as the others do.
    package var revocationEndpoint: Endpoint?
    /// Where the access token of a sign-in is exchanged for one that lasts; nil exchanges none (Instagram has one).
    package var exchangeEndpoint: Endpoint?
    package var exchangeForm = ExchangeForm()
    /// RFC 7662: asked how long an access token lives whose answer does not say it (Salesforce). Nil asks nobody.
    package var introspectionEndpoint: Endpoint?
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
    /// Added to refresh requests; the account's own parameters win.
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
    /// How long a refresh token lives unused, if the answer does not say it.
    package var refreshTokenLifetime: ProfileDuration?
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

/// What a server means by `expires_in: 0`; the raw values are those of configuration files.
package enum ZeroLifetime: String, Hashable, Sendable, CaseIterable, Decodable {
    /// Nothing is left of the token's life.
    case ended
    /// The token has no end.
    case never
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

/// Names that a profile's or an account's extra parameters may not have: they would change what the request means.
package enum ReservedParameter {
    /// What is wrong with a request that has one.
    static let summary = "an extra parameter has a name that the request itself uses"

    package static let names: Set<String> = [
        "grant_type", "refresh_token", "client_id", "client_secret", "client_assertion", "client_assertion_type",
        "token", "token_type_hint", "code", "code_verifier", "redirect_uri", "username", "password", "assertion",
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

/// Profiles whose URLs have variables in them.
extension ProviderProfile {
    private static let issuerKey = "issuer"

    /// The profile as it is for an account that says `values`.
    ///
    /// An issuer that is not filled in is none: the account may name its own.
    package func resolved(with values: [String: String]) throws(ProfileVariableFault) -> ProviderProfile {
        guard !variables.isEmpty || !values.isEmpty else { return self }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let variable = variables.first(where: { $0.name == name }) else { throw .unknown(name: name) }
            guard variable.takes(value) else { throw .unfit(variable, value: value) }
        }
        var profile = self
        for (key, template) in templates.sorted(by: { $0.key < $1.key }) {
            let text = filled(template, with: values)
            _ = profile.set(key, to: text)
        }
        let missing = variables.filter { variable in
            templates.contains { $0.key != Self.issuerKey && isMissing(variable, in: $0.value, values) }
        }
        guard missing.isEmpty else { throw .missing(missing) }
        return profile
    }

    /// The profile without all that its variables make up: for an account whose values it does not take. The defaults are other people's
    /// servers.
    package var unfilled: ProviderProfile {
        var profile = self
        for key in templates.keys { _ = profile.set(key, to: nil) }
        return profile
    }

    /// What an account of this provider has still to say so that it has an issuer.
    package func missingForIssuer(_ values: [String: String]) -> [ProfileVariable] {
        guard let template = templates[Self.issuerKey] else { return [] }
        return variables.filter { isMissing($0, in: template, values) }
    }

    /// The issuer as the profile's file has it.
    package var issuerText: String? { templates[Self.issuerKey] ?? issuer?.url }

    /// An endpoint as the profile's file has it.
    package func text(_ key: String, _ endpoint: Endpoint?) -> String? { templates[key] ?? endpoint?.url }

    /// Fills in what has a default.
    ///
    /// - Returns: the key whose URL is none, whatever stands for its variables, or has an unknown one; nil if all are well.
    mutating func fillStandards() -> String? {
        for (key, template) in templates.sorted(by: { $0.key < $1.key }) {
            let samples = Dictionary(variables.map { ($0.name, $0.standard ?? "x") }) { first, _ in first }
            guard set(key, to: filled(template, with: samples)) else { return key }
            _ = set(key, to: filled(template, with: [:]))
        }
        return nil
    }

    /// - Returns: whether `text` is a URL for `key`.
    private mutating func set(_ key: String, to text: String?) -> Bool {
        let endpoint = text.flatMap { Endpoint($0) }
        switch key {
        case Self.issuerKey:
            issuer = text.flatMap { try? Issuer(url: $0) }
            return issuer != nil
        case "token_endpoint": tokenEndpoint = endpoint
        case "refresh_endpoint": refreshEndpoint = endpoint
        case "revocation_endpoint": revocationEndpoint = endpoint
        case "introspection_endpoint": introspectionEndpoint = endpoint
        case "exchange_endpoint": exchangeEndpoint = endpoint
        default:
            guard let path = ServerEndpoints.names.first(where: { $0.name == key })?.path else { return false }
            endpoints[keyPath: path] = endpoint
        }
        return endpoint != nil
    }

    /// Nil if something has no value.
    private func filled(_ template: String, with values: [String: String]) -> String? {
        var text = template
        for variable in variables {
            guard let value = values[variable.name] ?? variable.standard else { continue }
            text = text.replacing("{\(variable.name)}", with: value)
        }
        return text.contains("{") ? nil : text
    }

    private func isMissing(_ variable: ProfileVariable, in template: String, _ values: [String: String]) -> Bool {
        template.contains("{\(variable.name)}") && values[variable.name] == nil && variable.standard == nil
    }
}

/// Something about a provider that each account has to say: its tenant, its realm, its data centre.
///
/// It stands in braces in the profile's URLs. What an account says is put in whole host labels and path segments only.
package struct ProfileVariable: Hashable, Sendable {
    package let name: String
    /// What it is, for people: one line.
    package let help: String
    /// Nil: an account has to say it.
    package let standard: String?
    /// A regular expression that the whole value has to match; nil: any host name or path segment.
    package let pattern: String?

    /// RFC 1035 §2.3.4; nobody's realm is as long.
    private static let longest = 253

    package init(name: String, help: String, standard: String? = nil, pattern: String? = nil) {
        self.name = name
        self.help = help
        self.standard = standard
        self.pattern = pattern
    }

    /// Whether `value` may stand in a URL for it: letters, digits, `.`, `_` and `-`, which end no host and no segment; and as the pattern
    /// says.
    package func takes(_ value: String) -> Bool {
        let isPlain = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isPlain, (1...Self.longest).contains(value.utf8.count), value.first != ".", value.first != "-",
            !value.contains("..")
        else { return false }
        guard let pattern else { return true }
        guard let expression = try? Regex(pattern) else { return false }
        return (try? expression.wholeMatch(in: value)) != nil
    }
}

extension ProfileVariable: Decodable {
    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: ["name", "help", "default", "pattern"])
        name = try fields.required("name")
        guard !name.isEmpty, name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }) else {
            throw fields.error("name", "must be made of a-z and _")
        }
        help = try fields.required("help")
        standard = try fields.optional("default")
        pattern = try fields.converted("pattern", "is no regular expression") { text in
            (try? Regex(text)).map { _ in text }
        }
        if let standard, !takes(standard) { throw fields.error("default", "is none of the values that it may have") }
    }
}

/// Why a profile cannot be filled in with what an account says.
package enum ProfileVariableFault: Error, Hashable, Sendable {
    /// The profile has no variable of this name.
    case unknown(name: String)
    /// It may not have this value.
    case unfit(ProfileVariable, value: String)
    /// Endpoints of the profile need them; at least one.
    case missing([ProfileVariable])
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
    func fits(_ answer: Answer, _ body: AnswerBody, workedBefore: Bool) -> Bool {
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
