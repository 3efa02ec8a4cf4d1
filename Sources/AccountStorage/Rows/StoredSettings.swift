package import AuthRefreshInterface
package import RefreshCore

extension AccountSettings {
    /// The settings that the owner of `account` has made.
    package init(_ account: Account) {
        self.init(name: account.name.text, issuer: account.issuer.url)
        dpop = account.registration.dpopKey == nil ? nil : true
        var account = account
        var exchange = SettingExchange(direction: .toSettings)
        exchange.run(&self, &account)
    }
}

extension Account {
    /// Creates an account with `settings`, whose numbers are within their bounds. It has no secrets, and no facts that
    /// are not settings. The client ID is empty if it is not set.
    ///
    /// - Parameter finding: becomes the first setting that has no meaning. Then the account may not be used.
    package init(
        name: AccountName,
        issuer: Issuer,
        settings: AccountSettings,
        finding: inout SettingFinding?
    ) {
        self.init(name: name, issuer: issuer, registration: ClientRegistration(clientID: ""))
        var settings = settings
        var exchange = SettingExchange(direction: .toAccount)
        exchange.run(&settings, &self)
        finding = exchange.finding
    }
}

/// A setting with an invalid value.
package struct SettingFinding: Hashable {
    /// The setting's name on the wire.
    package let setting: String
    package let flaw: ColumnFinding
}

/// Gives an account's values to its settings, or the reverse. A line names a setting beside its value, and serves both
/// directions, so that neither can forget one.
private struct SettingExchange {
    enum Direction {
        case toAccount
        case toSettings
    }

    let direction: Direction
    /// The first setting that has no meaning; nil if there is none.
    private(set) var finding: SettingFinding?

    mutating func run(_ settings: inout AccountSettings, _ account: inout Account) {
        optional(&settings.provider, &account.provider)
        unless([:], &settings.variables, &account.providerVariables)
        unless([:], &settings.providerSettings, &account.providerSettings)
        client(&settings, &account.registration)
        seconds(&settings.leadTimeSec, &account.policy.leadTime)
        seconds(&settings.rotationGraceSec, &account.policy.rotationGrace)
        seconds(&settings.refreshTokenLifetimeSec, &account.policy.refreshTokenLifetime)
        seconds(&settings.forgetAfterSec, &account.policy.forgetAfter)
        callers(&settings, &account.allowedCallers)
        unless([], &settings.urls, &account.delivery.urls)
        optional(&settings.username, &account.delivery.username)
        tokenFile(&settings, &account.delivery.file)
    }

    private mutating func client(_ settings: inout AccountSettings, _ client: inout ClientRegistration) {
        always(&settings.clientId, &client.clientID, "")
        unless(false, &settings.selfRegistered, &client.wasSelfRegistered)
        word("clientAuthentication", &settings.clientAuthentication, &client.authentication)
        optional(&settings.clientKeyId, &client.clientKeyID)
        optional(&settings.clientAssertionFile, &client.clientAssertionFile)
        unless([], &settings.clientCapabilities, &client.clientCapabilities)
        optional(&settings.teamId, &client.teamID)
        unless(false, &settings.acceptBearer, &client.acceptsBearer)
        optional(&settings.idTokenAlgorithm, &client.idTokenAlgorithm)
        serviceGrant(&settings, &client.serviceGrant)
        always(&settings.scopes, &client.scopes, [])
        always(&settings.refreshParameters, &client.refreshParameters, [:])
        unless([:], &settings.authorizationParameters, &client.authorizationParameters)
        optional(&settings.authorizationDetails, &client.authorizationDetails)
        optional(&settings.redirectUri, &client.redirect.uri)
        optional(&settings.redirectPort, &client.redirect.port)
        optional(&settings.redirectScheme, &client.redirect.scheme)
        unless(false, &settings.requireIss, &client.redirect.requiresIssuer)
        optional(&settings.postLogoutRedirectUri, &client.redirect.postLogoutURI)
        optional(&settings.loginBrowser, &client.loginBrowser)
        optional(&settings.loginWindow, &client.loginWindow)
    }

    /// The grant of a service account; nil for a person's account.
    private mutating func serviceGrant(_ settings: inout AccountSettings, _ grant: inout ServiceGrant?) {
        var kind = grant?.kind
        word("grantType", &settings.grantType, &kind)
        switch kind {
        case nil: break
        case .clientCredentials: grant = .clientCredentials
        case .jwtBearer:
            var terms = grant?.assertion ?? AssertionTerms()
            optional(&settings.assertionSubject, &terms.subject)
            optional(&settings.assertionAudience, &terms.audience)
            seconds(&settings.assertionLifetimeSec, &terms.lifetime)
            grant = .jwtBearer(terms)
        case .tokenExchange:
            let terms = grant?.exchange
            var (subject, actor, requested) = (terms?.subject, terms?.actor, terms?.requestedType)
            source("subjectAccount", &settings.subjectAccount, &settings.subjectTokenType, "subjectTokenType", &subject)
            source("actorAccount", &settings.actorAccount, &settings.actorTokenType, "actorTokenType", &actor)
            optional(&settings.requestedTokenType, &requested)
            guard direction == .toAccount else { return }
            guard let subject else { return note("subjectAccount", .missing) }
            // Without the actor, the token would impersonate the subject.
            if actor == nil, settings.actorTokenType != nil { note("actorAccount", .missing) }
            grant = .tokenExchange(ExchangeTerms(subject: subject, actor: actor, requestedType: requested))
        }
    }

    private mutating func source(
        _ nameSetting: String,
        _ name: inout String?,
        _ type: inout String?,
        _ typeSetting: String,
        _ source: inout SourceToken?
    ) {
        var known = source?.type
        switch direction {
        case .toSettings:
            name = source?.account.text
            word(typeSetting, &type, &known)
        case .toAccount:
            guard let name else { return }
            guard let account = AccountName(name) else { return note(nameSetting, .malformed) }
            word(typeSetting, &type, &known)
            source = SourceToken(account: account, type: known ?? .accessToken)
        }
    }

    private mutating func callers(_ settings: inout AccountSettings, _ callers: inout AllowedCallers?) {
        var (units, executables) = (callers?.units ?? [], callers?.executables ?? [])
        var asksFirst = callers?.asksFirst ?? false
        unless([], &settings.allowedUnits, &units)
        unless([], &settings.allowedExecutables, &executables)
        unless(false, &settings.confirm, &asksFirst)
        callers = AllowedCallers(units: units, executables: executables, asksFirst: asksFirst)
    }

    private mutating func tokenFile(_ settings: inout AccountSettings, _ file: inout TokenFile?) {
        var name = file?.name
        var kind = file.flatMap { $0.kind == .access ? nil : $0.kind }
        optional(&settings.tokenFile, &name)
        word("tokenFileKind", &settings.tokenFileKind, &kind)
        if name == nil, kind != nil { note("tokenFile", .missing) }
        file = name.map { TokenFile(name: $0, kind: kind ?? .access) }
    }

    private mutating func note(_ setting: String, _ flaw: ColumnFinding) {
        finding = finding ?? SettingFinding(setting: setting, flaw: flaw)
    }

    private func optional<Value>(_ setting: inout Value?, _ value: inout Value?) {
        switch direction {
        case .toAccount: value = setting
        case .toSettings: setting = value
        }
    }

    /// A setting that is not set if the account has `none`.
    private func unless<Value: Equatable>(_ none: Value, _ setting: inout Value?, _ value: inout Value) {
        switch direction {
        case .toAccount: value = setting ?? none
        case .toSettings: setting = value == none ? nil : value
        }
    }

    /// A setting that every account has.
    private func always<Value>(_ setting: inout Value?, _ value: inout Value, _ none: Value) {
        switch direction {
        case .toAccount: value = setting ?? none
        case .toSettings: setting = value
        }
    }

    private func optional(_ setting: inout Int64?, _ number: inout Int?) {
        switch direction {
        case .toAccount: number = setting.map { Int($0) }
        case .toSettings: setting = number.map { Int64($0) }
        }
    }

    private func seconds(_ setting: inout Int64?, _ duration: inout Duration?) {
        switch direction {
        case .toAccount: duration = setting.map { .seconds($0) }
        case .toSettings: setting = duration?.components.seconds
        }
    }

    private mutating func word<Word: RawRepresentable<String>>(
        _ name: String,
        _ setting: inout String?,
        _ word: inout Word?
    ) {
        switch direction {
        case .toAccount:
            word = setting.flatMap(Word.init)
            if word == nil, setting != nil { note(name, .unknownWord) }
        case .toSettings: setting = word?.rawValue
        }
    }
}

/// An account's settings as stored in their column: one JSON object with the wire's names.
///
/// Values that statements search for, and sealed values, have columns of their own.
struct StoredSettings: Codable {
    private static let inColumns: Set = [
        "issuer", "dpop", "subjectAccount", "actorAccount", "allowedUnits", "allowedExecutables", "confirm",
    ]
    private static let members = Setting.all.filter { !inColumns.contains($0.name) }
    private static let names = Set(members.map(\.name))

    /// The name of a member, known or not.
    struct Member: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let settings: AccountSettings
    /// A member that is not a setting of this version; nil if there is none.
    ///
    /// A later version may have used it as a restriction, so it must be neither ignored nor lost.
    let unknown: String?

    init(_ settings: AccountSettings) {
        self.settings = settings
        unknown = nil
    }

    init(from decoder: any Decoder) throws {
        settings = try AccountSettings(Self.members, from: decoder)
        let members = try decoder.container(keyedBy: Member.self).allKeys
        unknown = members.lazy.map(\.stringValue).filter { !Self.names.contains($0) }.min()
    }

    func encode(to encoder: any Encoder) throws {
        try settings.encode(Self.members, to: encoder)
    }
}
