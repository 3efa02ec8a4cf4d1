package import AuthRefreshInterface
package import RefreshCore

extension AccountSettings {
    /// The settings that the owner of `account` has made.
    package init(_ account: Account) {
        let registration = account.registration
        self.init(
            name: account.name.text,
            issuer: account.issuer.url,
            provider: account.provider,
            clientId: registration.clientID
        )
        variables = account.providerVariables.isEmpty ? nil : account.providerVariables
        providerSettings = account.providerSettings.isEmpty ? nil : account.providerSettings
        selfRegistered = registration.wasSelfRegistered ? true : nil
        clientAuthentication = registration.authentication?.rawValue
        clientKeyId = registration.clientKeyID
        clientAssertionFile = registration.clientAssertionFile
        clientCapabilities = registration.clientCapabilities.isEmpty ? nil : registration.clientCapabilities
        teamId = registration.teamID
        dpop = registration.dpopKey == nil ? nil : true
        acceptBearer = registration.acceptsBearer ? true : nil
        idTokenAlgorithm = registration.idTokenAlgorithm
        grantType = registration.serviceGrant?.kind.rawValue
        assertionSubject = registration.serviceGrant?.assertion?.subject
        assertionAudience = registration.serviceGrant?.assertion?.audience
        assertionLifetimeSec = registration.serviceGrant?.assertion?.lifetime?.components.seconds
        subjectAccount = registration.serviceGrant?.exchange?.subject.account.text
        subjectTokenType = registration.serviceGrant?.exchange?.subject.type.rawValue
        actorAccount = registration.serviceGrant?.exchange?.actor?.account.text
        actorTokenType = registration.serviceGrant?.exchange?.actor?.type.rawValue
        requestedTokenType = registration.serviceGrant?.exchange?.requestedType
        scopes = registration.scopes
        refreshParameters = registration.refreshParameters
        authorizationParameters =
            registration.authorizationParameters.isEmpty ? nil : registration.authorizationParameters
        authorizationDetails = registration.authorizationDetails
        redirectUri = registration.redirect.uri
        redirectPort = registration.redirect.port.map(Int64.init)
        redirectScheme = registration.redirect.scheme
        requireIss = registration.redirect.requiresIssuer ? true : nil
        postLogoutRedirectUri = registration.redirect.postLogoutURI
        loginBrowser = registration.loginBrowser
        loginWindow = registration.loginWindow
        leadTimeSec = account.policy.leadTime?.components.seconds
        rotationGraceSec = account.policy.rotationGrace?.components.seconds
        refreshTokenLifetimeSec = account.policy.refreshTokenLifetime?.components.seconds
        allowedUnits = account.allowedCallers.flatMap { $0.units.isEmpty ? nil : $0.units }
        allowedExecutables = account.allowedCallers.flatMap { $0.executables.isEmpty ? nil : $0.executables }
        confirm = account.allowedCallers?.asksFirst == true ? true : nil
        forgetAfterSec = account.policy.forgetAfter?.components.seconds
        urls = account.delivery.urls.isEmpty ? nil : account.delivery.urls
        username = account.delivery.username
        tokenFile = account.delivery.file?.name
        tokenFileKind = account.delivery.file.flatMap { $0.kind == .access ? nil : $0.kind.rawValue }
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

/// A setting with an invalid value.
package struct SettingError: Error, Hashable {
    /// The setting's name on the wire.
    package let setting: String
    package let flaw: ColumnFinding
}

/// Converts settings to the core's types. Their numbers are within their bounds.
extension AccountSettings {
    /// The registration, without its secrets and without facts that are not settings. The client ID is empty if it is
    /// not set.
    package func registration() throws(SettingError) -> ClientRegistration {
        ClientRegistration(
            clientID: clientId ?? "",
            authentication: try word(clientAuthentication, "clientAuthentication"),
            clientKeyID: clientKeyId,
            clientAssertionFile: clientAssertionFile,
            clientCapabilities: clientCapabilities ?? [],
            teamID: teamId,
            acceptsBearer: acceptBearer ?? false,
            idTokenAlgorithm: idTokenAlgorithm,
            serviceGrant: try serviceGrant(),
            scopes: scopes ?? [],
            refreshParameters: refreshParameters ?? [:],
            authorizationParameters: authorizationParameters ?? [:],
            authorizationDetails: authorizationDetails,
            redirect: RegisteredRedirect(
                uri: redirectUri,
                port: redirectPort.map { Int($0) },
                scheme: redirectScheme,
                requiresIssuer: requireIss ?? false,
                postLogoutURI: postLogoutRedirectUri
            ),
            loginBrowser: loginBrowser,
            loginWindow: loginWindow,
            wasSelfRegistered: selfRegistered ?? false
        )
    }

    package var policy: RefreshPolicy {
        RefreshPolicy(
            leadTime: leadTimeSec.map { .seconds($0) },
            rotationGrace: rotationGraceSec.map { .seconds($0) },
            refreshTokenLifetime: refreshTokenLifetimeSec.map { .seconds($0) },
            forgetAfter: forgetAfterSec.map { .seconds($0) }
        )
    }

    package func delivery() throws(SettingError) -> Delivery {
        let kind: TokenFile.Kind? = try word(tokenFileKind, "tokenFileKind")
        guard tokenFile != nil || kind == nil else { throw SettingError(setting: "tokenFile", flaw: .missing) }
        return Delivery(
            urls: urls ?? [],
            username: username,
            file: tokenFile.map { TokenFile(name: $0, kind: kind ?? .access) }
        )
    }

    /// The grant of a service account; nil for a person's account.
    private func serviceGrant() throws(SettingError) -> ServiceGrant? {
        guard let kind: ServiceGrant.Kind = try word(grantType, "grantType") else { return nil }
        switch kind {
        case .clientCredentials: return .clientCredentials
        case .jwtBearer:
            return .jwtBearer(
                AssertionTerms(
                    subject: assertionSubject,
                    audience: assertionAudience,
                    lifetime: assertionLifetimeSec.map { .seconds($0) }
                )
            )
        case .tokenExchange:
            guard let subject = try source(subjectAccount, "subjectAccount", subjectTokenType, "subjectTokenType")
            else { throw SettingError(setting: "subjectAccount", flaw: .missing) }
            // Without the actor, the token would impersonate the subject.
            guard actorAccount != nil || actorTokenType == nil else {
                throw SettingError(setting: "actorAccount", flaw: .missing)
            }
            return .tokenExchange(
                ExchangeTerms(
                    subject: subject,
                    actor: try source(actorAccount, "actorAccount", actorTokenType, "actorTokenType"),
                    requestedType: requestedTokenType
                )
            )
        }
    }

    private func source(
        _ name: String?,
        _ nameSetting: String,
        _ type: String?,
        _ typeSetting: String
    ) throws(SettingError) -> SourceToken? {
        guard let name else { return nil }
        guard let account = AccountName(name) else { throw SettingError(setting: nameSetting, flaw: .malformed) }
        return SourceToken(account: account, type: try word(type, typeSetting) ?? .accessToken)
    }

    private func word<Word: RawRepresentable<String>>(
        _ text: String?,
        _ setting: String
    ) throws(SettingError) -> Word? {
        guard let text else { return nil }
        guard let word = Word(rawValue: text) else { throw SettingError(setting: setting, flaw: .unknownWord) }
        return word
    }
}
