/// An owner's settings of an account, without secrets. This is their only definition.
///
/// The wire, the store, exports, and the options and output of `authctl` all use this type and `Setting.all` below. The
/// fields are described in `io.authrefresh.varlink`. Nil means that a setting is not set.
package struct AccountSettings: Hashable, Sendable {
    package var name: String
    package var issuer: String?
    package var provider: String?
    package var variables: [String: String]?
    package var providerSettings: [String: String]?
    /// The client ID; empty on the wire if it is not set.
    package var clientId: String?
    package var selfRegistered: Bool?
    package var clientAuthentication: String?
    package var clientKeyId: String?
    package var clientAssertionFile: String?
    package var clientCapabilities: [String]?
    package var teamId: String?
    package var dpop: Bool?
    package var acceptBearer: Bool?
    package var idTokenAlgorithm: String?
    package var grantType: String?
    package var assertionSubject: String?
    package var assertionAudience: String?
    package var assertionLifetimeSec: Int64?
    package var subjectAccount: String?
    package var subjectTokenType: String?
    package var actorAccount: String?
    package var actorTokenType: String?
    package var requestedTokenType: String?
    package var scopes: [String]?
    package var refreshParameters: [String: String]?
    package var authorizationParameters: [String: String]?
    package var authorizationDetails: String?
    package var redirectUri: String?
    package var redirectPort: Int64?
    package var redirectScheme: String?
    package var requireIss: Bool?
    package var postLogoutRedirectUri: String?
    package var loginBrowser: String?
    package var loginWindow: String?
    package var leadTimeSec: Int64?
    package var rotationGraceSec: Int64?
    package var refreshTokenLifetimeSec: Int64?
    package var allowedUnits: [String]?
    package var allowedExecutables: [String]?
    package var confirm: Bool?
    package var forgetAfterSec: Int64?
    package var urls: [String]?
    package var username: String?
    package var tokenFile: String?
    package var tokenFileKind: String?

    /// Creates the settings that most accounts have; `others` has the rest.
    package init(
        name: String,
        issuer: String? = nil,
        provider: String? = nil,
        clientId: String? = nil,
        _ others: (inout AccountSettings) -> Void = { _ in }
    ) {
        self.name = name
        self.issuer = issuer
        self.provider = provider
        self.clientId = clientId
        others(&self)
    }
}

/// A setting of an account: its value and its names.
package struct Setting: Sendable {
    /// The name on the wire, in the store and in exports.
    package let name: String
    /// The option that sets it, without dashes.
    package let option: String
    /// The setting's name as the subject of a sentence.
    package let phrase: String
    /// The label before its value where an account is shown.
    package let label: String
    fileprivate let field: Field
    /// How `UpdateAccount` may change it.
    package let change: Change

    package enum Change: Sendable {
        /// It can be changed and cleared.
        case any
        /// It can be replaced, but not cleared.
        case replaceOnly
        /// It is set when the account is added, and cannot be changed.
        case none
    }

    fileprivate typealias Member<Value> = any WritableKeyPath<AccountSettings, Value?> & Sendable

    /// The property of `AccountSettings` with the value.
    fileprivate enum Field: Sendable {
        case text(Member<String>)
        case list(Member<[String]>)
        case map(Member<[String: String]>)
        case flag(Member<Bool>)
        case number(Member<Int64>, Bounds)
        case seconds(Member<Int64>, Bounds)
    }

    /// The numbers that a setting takes, when a person makes it and when the store reads it.
    package struct Bounds: Sendable {
        package let range: ClosedRange<Int64>
        /// The range in a sentence, after "it must be".
        package let words: String

        fileprivate static let port = Bounds(range: 1...65_535, words: "a port, from 1 to 65535")
        /// Anything longer is a mistake.
        fileprivate static let century = Bounds(range: 1...3_155_760_000, words: "from 1 s to 100 years")
        /// A shorter lifetime fails if clocks differ, and Google accepts no more than an hour.
        fileprivate static let assertion = Bounds(range: 10...3600, words: "from 10 s to 1 hour")
    }

    /// Nil if the setting is no number.
    package var bounds: Bounds? {
        switch field {
        case .number(_, let bounds), .seconds(_, let bounds): bounds
        case .text, .list, .map, .flag: nil
        }
    }

    /// Creates a setting.
    ///
    /// - Parameters:
    ///   - option: nil for the one that the argument parser makes of the name: `leadTimeSec` is `lead-time`.
    ///   - label: nil for the words of the option.
    private init(
        _ name: String,
        _ field: Field,
        option: String? = nil,
        label: String? = nil,
        phrase: String,
        change: Change = .any
    ) {
        let stem = name.hasSuffix("Sec") ? name.dropLast(3) : name[...]
        let option = option ?? stem.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
        self.name = name
        self.field = field
        self.option = option
        self.label = label ?? option.replacing("-", with: " ")
        self.phrase = phrase
        self.change = change
    }

    /// All settings except the account's name, in the order in which they are shown.
    package static let all: [Setting] = [
        Setting("issuer", .text(\.issuer), phrase: "the issuer"),
        Setting("provider", .text(\.provider), phrase: "the provider"),
        Setting(
            "variables",
            .map(\.variables),
            option: "set",
            phrase: "a variable of the provider",
            change: .replaceOnly
        ),
        Setting(
            "providerSettings",
            .map(\.providerSettings),
            option: "provider-setting",
            label: "setting",
            phrase: "a setting of the provider"
        ),
        Setting("clientId", .text(\.clientId), phrase: "the client id", change: .replaceOnly),
        Setting(
            "selfRegistered",
            .flag(\.selfRegistered),
            option: "register",
            label: "registered",
            phrase: "the registration by the server",
            change: .none
        ),
        Setting(
            "clientAuthentication",
            .text(\.clientAuthentication),
            option: "client-auth",
            phrase: "the client's way of authentication"
        ),
        Setting("clientKeyId", .text(\.clientKeyId), label: "client key", phrase: "the key's name"),
        Setting(
            "clientAssertionFile",
            .text(\.clientAssertionFile),
            label: "assertion file",
            phrase: "the file with the client's assertion"
        ),
        Setting(
            "clientCapabilities",
            .list(\.clientCapabilities),
            option: "client-capability",
            label: "capability",
            phrase: "a capability of the client"
        ),
        Setting("teamId", .text(\.teamId), label: "team", phrase: "the team's identifier"),
        Setting("dpop", .flag(\.dpop), phrase: "the account's key", change: .none),
        Setting(
            "acceptBearer",
            .flag(\.acceptBearer),
            label: "bearer tokens",
            phrase: "the account's word about Bearer tokens"
        ),
        Setting(
            "idTokenAlgorithm",
            .text(\.idTokenAlgorithm),
            option: "id-token-alg",
            label: "ID token alg",
            phrase: "the algorithm of ID tokens"
        ),
        Setting("grantType", .text(\.grantType), option: "grant", phrase: "the grant", change: .none),
        Setting(
            "assertionSubject",
            .text(\.assertionSubject),
            label: "assertion for",
            phrase: "the assertion's subject"
        ),
        Setting(
            "assertionAudience",
            .text(\.assertionAudience),
            label: "assertion to",
            phrase: "the assertion's audience"
        ),
        Setting(
            "assertionLifetimeSec",
            .seconds(\.assertionLifetimeSec, .assertion),
            label: "assertion ends",
            phrase: "the assertion's lifetime"
        ),
        Setting(
            "subjectAccount",
            .text(\.subjectAccount),
            label: "derived from",
            phrase: "the account to derive from",
            change: .none
        ),
        Setting(
            "subjectTokenType",
            .text(\.subjectTokenType),
            label: "its token",
            phrase: "the type of token",
            change: .none
        ),
        Setting(
            "actorAccount",
            .text(\.actorAccount),
            label: "acting for it",
            phrase: "the account to derive from",
            change: .none
        ),
        Setting(
            "actorTokenType",
            .text(\.actorTokenType),
            label: "its token",
            phrase: "the type of token",
            change: .none
        ),
        Setting(
            "requestedTokenType",
            .text(\.requestedTokenType),
            label: "token type",
            phrase: "the type of token",
            change: .none
        ),
        Setting("scopes", .list(\.scopes), option: "scope", phrase: "the scope"),
        Setting("refreshParameters", .map(\.refreshParameters), option: "param", phrase: "a parameter"),
        Setting(
            "authorizationParameters",
            .map(\.authorizationParameters),
            option: "authorization-parameter",
            label: "asks",
            phrase: "a parameter of the authorization request"
        ),
        Setting(
            "authorizationDetails",
            .text(\.authorizationDetails),
            label: "asks in detail",
            phrase: "what is asked for in detail"
        ),
        Setting("redirectUri", .text(\.redirectUri), phrase: "the redirect URI"),
        Setting("redirectPort", .number(\.redirectPort, .port), phrase: "the redirect port"),
        Setting("redirectScheme", .text(\.redirectScheme), phrase: "the redirect scheme"),
        Setting(
            "requireIss",
            .flag(\.requireIss),
            label: "requires iss",
            phrase: "the demand for an issuer in each answer"
        ),
        Setting(
            "postLogoutRedirectUri",
            .text(\.postLogoutRedirectUri),
            label: "after logout",
            phrase: "the redirect URI of the sign-out"
        ),
        Setting("loginBrowser", .text(\.loginBrowser), phrase: "the browser for sign-ins"),
        Setting("loginWindow", .text(\.loginWindow), phrase: "the kind of window for sign-ins"),
        Setting("leadTimeSec", .seconds(\.leadTimeSec, .century), phrase: "the lead time"),
        Setting("rotationGraceSec", .seconds(\.rotationGraceSec, .century), phrase: "the rotation grace"),
        Setting(
            "refreshTokenLifetimeSec",
            .seconds(\.refreshTokenLifetimeSec, .century),
            label: "refresh token",
            phrase: "the refresh token's lifetime"
        ),
        Setting(
            "allowedUnits",
            .list(\.allowedUnits),
            option: "allow-unit",
            label: "allowed unit",
            phrase: "an allowed unit"
        ),
        Setting(
            "allowedExecutables",
            .list(\.allowedExecutables),
            option: "allow-executable",
            label: "allowed program",
            phrase: "an allowed executable"
        ),
        Setting("confirm", .flag(\.confirm), label: "asks first", phrase: "the question before a token is given"),
        Setting(
            "forgetAfterSec",
            .seconds(\.forgetAfterSec, .century),
            label: "signs out",
            phrase: "the time until the account signs out"
        ),
        Setting("urls", .list(\.urls), option: "url", phrase: "an address"),
        Setting("username", .text(\.username), label: "user name", phrase: "the user name"),
        Setting("tokenFile", .text(\.tokenFile), phrase: "the token file"),
        Setting("tokenFileKind", .text(\.tokenFileKind), label: "it holds", phrase: "the kind of token file"),
    ]

    /// What its value has to be in a file.
    package var expected: String {
        switch field {
        case .text: "a text, in quotes if it looks like something else"
        case .list: "a list of texts"
        case .map: "a mapping of names to texts"
        case .flag: "true or false"
        case .number: "a whole number"
        case .seconds: "a whole number of seconds"
        }
    }

    /// The setting of this name; nil if there is none.
    package static func named(_ name: String) -> Setting? {
        all.first { $0.name == name }
    }
}

/// The value of a setting.
package enum SettingValue: Hashable, Sendable {
    case text(String)
    case list([String])
    case map([String: String])
    case flag(Bool)
    case number(Int64)
    case seconds(Int64)

    /// The size of its texts in bytes. Even an empty text counts, because a list could otherwise have any number of
    /// them.
    package var byteCount: Int {
        let texts: [String] =
            switch self {
            case .text(let text): [text]
            case .list(let texts): texts
            case .map(let members): members.flatMap { [$0.key, $0.value] }
            case .flag, .number, .seconds: []
            }
        return texts.reduce(0) { $0 + $1.utf8.count + 1 }
    }
}

extension AccountSettings {
    /// The value of a setting; nil if it is not set.
    package subscript(setting: Setting) -> SettingValue? {
        switch setting.field {
        case .text(let path): self[keyPath: path].map(SettingValue.text)
        case .list(let path): self[keyPath: path].map(SettingValue.list)
        case .map(let path): self[keyPath: path].map(SettingValue.map)
        case .flag(let path): self[keyPath: path].map(SettingValue.flag)
        case .number(let path, _): self[keyPath: path].map(SettingValue.number)
        case .seconds(let path, _): self[keyPath: path].map(SettingValue.seconds)
        }
    }

    /// The first number that is out of its bounds; nil if there is none.
    package var outOfBounds: Setting? {
        Setting.all.first { setting in
            switch self[setting] {
            case .number(let number), .seconds(let number): setting.bounds?.range.contains(number) == false
            case .text, .list, .map, .flag, nil: false
            }
        }
    }

    /// Copies the value of `other`; nil clears the setting.
    package mutating func copy(_ setting: Setting, from other: AccountSettings) {
        switch setting.field {
        case .text(let path): self[keyPath: path] = other[keyPath: path]
        case .list(let path): self[keyPath: path] = other[keyPath: path]
        case .map(let path): self[keyPath: path] = other[keyPath: path]
        case .flag(let path): self[keyPath: path] = other[keyPath: path]
        case .number(let path, _), .seconds(let path, _): self[keyPath: path] = other[keyPath: path]
        }
    }

    package mutating func clear(_ setting: Setting) {
        copy(setting, from: AccountSettings(name: name))
    }

    /// The size of all its texts in bytes.
    package var byteCount: Int {
        Setting.all.reduce(name.utf8.count + 1) { $0 + (self[$1]?.byteCount ?? 0) }
    }
}

/// The settings as members of one object.
extension AccountSettings: Codable {
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: MemberName.self)
        self.init(name: try members.decode(String.self, forKey: MemberName("name")))
        _ = try members.decode(String.self, forKey: MemberName("clientId"))
        try read(Setting.all, from: members)
    }

    /// Reads those of `settings` that are members of `decoder`'s object, and ignores other members.
    package init(_ settings: [Setting], of name: String = "", from decoder: any Decoder) throws {
        self.init(name: name)
        try read(settings, from: decoder.container(keyedBy: MemberName.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberName.self)
        try members.encode(name, forKey: MemberName("name"))
        if clientId == nil { try members.encode("", forKey: MemberName("clientId")) }
        try write(Setting.all, to: &members)
    }

    /// Writes those of `settings` that are set as members of `encoder`'s object.
    package func encode(_ settings: [Setting], to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberName.self)
        try write(settings, to: &members)
    }

    private mutating func read(_ settings: [Setting], from members: KeyedDecodingContainer<MemberName>) throws {
        for setting in settings {
            let key = MemberName(setting.name)
            switch setting.field {
            case .text(let path): self[keyPath: path] = try members.decodeIfPresent(String.self, forKey: key)
            case .list(let path): self[keyPath: path] = try members.decodeIfPresent([String].self, forKey: key)
            case .map(let path): self[keyPath: path] = try members.decodeIfPresent([String: String].self, forKey: key)
            case .flag(let path): self[keyPath: path] = try members.decodeIfPresent(Bool.self, forKey: key)
            case .number(let path, _), .seconds(let path, _):
                self[keyPath: path] = try members.decodeIfPresent(Int64.self, forKey: key)
            }
        }
    }

    private func write(_ settings: [Setting], to members: inout KeyedEncodingContainer<MemberName>) throws {
        for setting in settings {
            let key = MemberName(setting.name)
            switch self[setting] {
            case .text(let text): try members.encode(text, forKey: key)
            case .list(let texts): try members.encode(texts, forKey: key)
            case .map(let map): try members.encode(map, forKey: key)
            case .flag(let flag): try members.encode(flag, forKey: key)
            case .number(let number), .seconds(let number): try members.encode(number, forKey: key)
            case nil: break
            }
        }
    }
}

extension Setting {
    /// The settings that `UpdateAccount` accepts.
    package static let changeable = all.filter { $0.change != .none }
}
