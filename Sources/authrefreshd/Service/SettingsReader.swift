internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// Turns the settings of the wire into an account's, or says what is wrong with them.
struct SettingsReader {
    let profiles: ProviderProfiles
    /// Whether the server is yet to be asked for a client: it has no id and no secret until then.
    var isRegistering = false
    /// Makes the key of an account that is to have one and has none.
    var newDPoPKey: @Sendable () -> Secret = ClientKeys.newDPoPKey

    /// - Parameter dpopKey: the key that the account has already; nil makes one if the settings want it.
    func draft(
        _ settings: AccountSettings,
        clientSecret: String?,
        clientKey: String? = nil,
        dpopKey: Secret? = nil
    ) throws(VarlinkError) -> NewAccount {
        try checkSize(of: settings)
        guard let name = AccountName(settings.name) else {
            throw .invalid(WrongSetting.noAccountName(field: "name", name: settings.name))
        }
        let choice = try choice(settings)
        return NewAccount(
            Account(
                name: name,
                issuer: choice.issuer,
                provider: choice.provider,
                providerVariables: choice.variables,
                providerSettings: choice.settings,
                registration: try registration(settings, clientSecret, clientKey, dpopKey),
                policy: try policy(settings),
                allowedCallers: try allowedCallers(settings),
                delivery: try delivery(settings)
            ),
            createdAt: Timestamp(microseconds: 0)
        )
    }

    /// `account` with the fields changed that `change` names.
    func account(_ account: Account, changedBy change: UpdateAccount.Parameters) throws(VarlinkError) -> Account {
        var settings = AccountSettings(account)
        var secret = account.registration.clientSecret
        var key = account.registration.clientKey
        for field in change.clear ?? [] {
            switch field {
            case "clientSecret": secret = nil
            case "clientKey": key = nil
            default:
                guard settings.clear(field) else { throw .invalid(WrongSetting.cannotBeCleared(field: field)) }
            }
        }
        settings.apply(change.settings)
        try checkSize(of: settings)
        // What was said for one server is not said for another: its addresses would be told what that one gives.
        if isElsewhere(settings, than: account) { settings.providerSettings = change.settings.providerSettings }
        let isMoved = try choice(settings).isElsewhere(than: ProfileChoice(account))
        // The secret is known to the server it was made for; another one must not see it, nor what the key signs.
        let lacksWord = secret != nil && change.clientSecret == nil || key != nil && change.clientKey == nil
        guard !isMoved || !lacksWord || change.keepSecret != nil else {
            throw .invalid(WrongSetting.secretOfOtherServer(account: account.name.text))
        }
        let keeps = !isMoved || change.keepSecret == true
        var draft = try draft(
            settings,
            clientSecret: change.clientSecret ?? (keeps ? secret?.reveal() : nil),
            clientKey: change.clientKey ?? (keeps ? key?.reveal() : nil),
            // One server is not to know by it whose account is whose at another (RFC 9449 §11.3).
            dpopKey: isMoved ? nil : account.registration.dpopKey
        )
        if !isMoved, draft.registration.clientID == account.registration.clientID {
            draft.registration.management = account.registration.management
            // Whoever brings a new secret knows when it ends.
            if draft.registration.clientSecret != nil, change.clientSecret.map({ $0 == secret?.reveal() }) ?? true {
                draft.registration.clientSecretExpiresAt = account.registration.clientSecretExpiresAt
            }
        }
        // The path of a redirect URI of the issuer's own says which server was asked.
        if isMoved, settings.redirectUri == account.registration.redirect.uri,
            let uri = account.registration.redirect.uri,
            let own = RedirectChoice.moved(uri, from: account.issuer, to: draft.issuer)
        {
            draft.registration.redirect.uri = own
        }
        draft.registration.serviceGrant?.keepSources(of: account.registration.serviceGrant)
        // What is no setting stays with the account: its number, and what a sign-in or an exchange found out.
        var changed = draft.account
        changed.id = account.id
        changed.basicCredentialEncoding = account.basicCredentialEncoding
        changed.grantFacts = account.grantFacts
        return changed
    }

    /// Whether settings lead to another server than `account` has, whatever they say in place of the provider's profile.
    private func isElsewhere(_ settings: AccountSettings, than account: Account) -> Bool {
        var plain = settings
        plain.providerSettings = nil
        // Where nobody can say where they lead, it is elsewhere.
        guard let choice = try? choice(plain) else { return true }
        return choice.issuer != account.issuer || choice.provider != account.provider
            || choice.variables != account.providerVariables
    }

    /// Goes before all reading: what is read can be no larger.
    func checkSize(of settings: AccountSettings) throws(VarlinkError) {
        guard settings.byteCount <= CallerLimits.settingsBytesMax else {
            throw VarlinkError(LimitExceededError(.settingsBytes, maximum: CallerLimits.settingsBytesMax))
        }
    }

    private func policy(_ settings: AccountSettings) throws(VarlinkError) -> RefreshPolicy {
        for (field, count) in [
            ("leadTimeSec", settings.leadTimeSec), ("rotationGraceSec", settings.rotationGraceSec),
            ("refreshTokenLifetimeSec", settings.refreshTokenLifetimeSec),
            ("forgetAfterSec", settings.forgetAfterSec),
        ] {
            // A hundred years: what is longer is a mistake.
            guard count.map({ (1...3_155_760_000).contains($0) }) ?? true else {
                throw .invalid(WrongSetting.timeOutOfRange(field: field))
            }
        }
        guard settings.forgetAfterSec == nil || settings.grantType == nil else {
            throw .invalid(WrongGrant.neverSignsOut(account: settings.name))
        }
        return try meaning(try settings.policy())
    }

    /// What settings mean that were checked: whatever cannot be read all the same is refused by its name.
    func meaning<Meaning>(_ read: @autoclosure () throws(SettingFault) -> Meaning) throws(VarlinkError) -> Meaning {
        do {
            return try read()
        } catch {
            throw .invalid(WrongSetting.unreadable(field: error.setting, flaw: "\(error.flaw)"))
        }
    }

}

/// The allow list in the settings of the wire.
extension SettingsReader {
    /// Nil: every process of this user.
    func allowedCallers(_ settings: AccountSettings) throws(VarlinkError) -> AllowedCallers? {
        let (units, executables) = (settings.allowedUnits ?? [], settings.allowedExecutables ?? [])
        guard units.count + executables.count <= CallerLimits.allowedCallersMax else {
            throw VarlinkError(LimitExceededError(.allowedCallers, maximum: CallerLimits.allowedCallersMax))
        }
        for unit in units where !Self.isUnit(unit) {
            throw .invalid(WrongDelivery.noUnit(unit))
        }
        for path in executables where !Self.isPath(path) {
            throw .invalid(WrongDelivery.noPath(path))
        }
        return AllowedCallers(units: units, executables: executables, asksFirst: settings.confirm ?? false)
    }

    /// systemd.unit(5): letters, digits and `:-_.\\@`, up to 255; only services and scopes have processes. No patterns: `@` is a
    /// template's, and names one instance.
    private static func isUnit(_ name: String) -> Bool {
        let type = [".service", ".scope"].first { name.hasSuffix($0) }
        guard let type, name.utf8.count > type.utf8.count, name.utf8.count <= 255 else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: ":-_.\\@".utf8.contains(byte)
            }
        }
    }

    private static func isPath(_ path: String) -> Bool {
        path.hasPrefix("/") && path.utf8.count < 4096 && !path.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
}

/// Changing an account's settings.
extension AccountSettings {
    /// Takes over what `change` says; what it leaves out stays.
    mutating func apply(_ change: AccountSettings) {
        // The issuer was made of them.
        if change.variables != nil { issuer = nil }
        for setting in Setting.changeable where change[setting] != nil { copy(setting, from: change) }
    }

    /// Empties a field, by its name on the wire.
    ///
    /// - Returns: false for one that cannot be empty, or is none.
    mutating func clear(_ field: String) -> Bool {
        guard let setting = Setting.named(field), setting.change == .any else { return false }
        clear(setting)
        // They are the provider's.
        if field == "provider" { (variables, providerSettings) = (nil, nil) }
        return true
    }
}
