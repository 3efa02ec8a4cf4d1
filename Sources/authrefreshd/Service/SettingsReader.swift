internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import RefreshCore
internal import Varlink

/// Converts settings from the wire into an account's, or reports what is wrong with them.
struct SettingsReader {
    let profiles: ProviderProfiles
    /// Whether the client will be registered at the server later, and so has no ID and no secret yet.
    var isRegistering = false
    /// Creates the DPoP key of an account that needs one.
    var newDPoPKey: @Sendable () -> Secret = Secret.newDPoPKey

    /// Creates a new account from settings.
    ///
    /// - Parameter dpopKey: the account's existing key; nil creates one if the settings require it.
    func draft(
        _ settings: AccountSettings,
        clientSecret: String?,
        clientKey: String? = nil,
        dpopKey: Secret? = nil
    ) throws(VarlinkError) -> NewAccount {
        try checkBounds(of: settings)
        guard let name = AccountName(settings.name) else {
            throw Complaint.noAccountName(settings.name, field: "name").error
        }
        let choice = try choice(settings)
        if clientSecret?.isEmpty == true { throw Complaint.empty(field: "clientSecret").error }
        var settings = settings
        try check(client: &settings, hasSecret: clientSecret != nil, clientKey.map { Secret($0) }, dpopKey)
        guard settings.forgetAfterSec == nil || settings.grantType == nil else {
            throw Complaint(
                field: "forgetAfterSec",
                "nobody signs in to a service account, so it cannot sign out",
                hint: Hint(Command("account", "remove", settings.name))
            ).error
        }
        try check(callers: settings)
        try check(delivery: &settings)
        var finding: SettingFinding?
        var account = Account(name: name, issuer: choice.issuer, settings: settings, finding: &finding)
        if let finding { throw Complaint(field: finding.setting, "it \(finding.flaw)").error }
        account.registration.clientSecret = clientSecret.map { Secret($0) }
        account.registration.clientKey = clientKey.map { Secret($0) }
        account.registration.dpopKey = dpopKey ?? (settings.dpop == true ? newDPoPKey() : nil)
        return NewAccount(account, createdAt: Timestamp(microseconds: 0))
    }

    /// `account` with the fields in `change` changed.
    func account(_ account: Account, changedBy change: UpdateAccount.Parameters) throws(VarlinkError) -> Account {
        var settings = AccountSettings(account)
        var secret = account.registration.clientSecret
        var key = account.registration.clientKey
        for field in change.clear ?? [] {
            switch field {
            case "clientSecret": secret = nil
            case "clientKey": key = nil
            default:
                guard settings.clear(field) else {
                    throw Complaint(field: "clear", "the setting '\(field)' cannot be emptied").error
                }
            }
        }
        settings.apply(change.settings)
        try checkBounds(of: settings)
        // Settings for one server must not apply to another, because its addresses would get the first one's tokens.
        if isElsewhere(settings, than: account) { settings.providerSettings = change.settings.providerSettings }
        let isMoved = try choice(settings).isElsewhere(than: ProfileChoice(account))
        // The client secret, and whatever the client key signs, are only for the server that they were made for.
        let lacksWord =
            secret != nil && change.clientSecret == nil || key != nil && change.clientKey == nil
            || settings.clientAssertionFile != nil && change.settings.clientAssertionFile == nil
        guard !isMoved || !lacksWord || change.keepSecret != nil else {
            throw Complaint(
                field: "keepSecret",
                "the new server would get the client secret or key that '\(account.name)' has for the old one",
                hint: "--keep-secret if the new server knows this client too; "
                    + "else give another secret, or --clear client-secret"
            ).error
        }
        let keeps = !isMoved || change.keepSecret == true
        if !keeps { settings.clientAssertionFile = change.settings.clientAssertionFile }
        guard change.clientSecretExpiresAtUSec == nil || change.clientSecret != nil || secret != nil else {
            throw Complaint(
                field: "clientSecretExpiresAtUSec",
                "'\(account.name)' has no client secret",
                hint: "--client-secret-file FILE"
            ).error
        }
        // One of an earlier version may be a command. It is never started, but the person can see it.
        let browser = settings.loginBrowser
        settings.loginBrowser = change.settings.loginBrowser
        var draft = try draft(
            settings,
            clientSecret: change.clientSecret ?? (keeps ? secret?.reveal() : nil),
            clientKey: change.clientKey ?? (keeps ? key?.reveal() : nil),
            // With the same key, servers could recognize that their accounts have the same owner (RFC 9449 §11.3).
            dpopKey: isMoved ? nil : account.registration.dpopKey
        )
        if !isMoved, draft.registration.clientID == account.registration.clientID {
            draft.registration.management = account.registration.management
            // The expiry belongs to the old secret. A caller that sets a new one may state the new expiry.
            if draft.registration.clientSecret != nil, change.clientSecret.map({ $0 == secret?.reveal() }) ?? true {
                draft.registration.clientSecretExpiresAt = account.registration.clientSecretExpiresAt
            }
        } else {
            draft.registration.wasSelfRegistered = false
        }
        if let end = change.clientSecretExpiresAtUSec {
            draft.registration.clientSecretExpiresAt = Timestamp(microseconds: end)
        }
        // The path of an issuer's own redirect URI shows which server was asked.
        if isMoved, settings.redirectUri == account.registration.redirect.uri,
            let uri = account.registration.redirect.uri,
            let own = RedirectChoice.moved(uri, from: account.issuer, to: draft.issuer)
        {
            draft.registration.redirect.uri = own
        }
        draft.registration.loginBrowser = browser
        draft.registration.serviceGrant?.keepSources(of: account.registration.serviceGrant)
        // The account keeps everything that is not a setting: its number, and what sign-ins or exchanges found out.
        var changed = draft.account
        changed.id = account.id
        changed.basicCredentialEncoding = account.basicCredentialEncoding
        changed.grantFacts = account.grantFacts
        return changed
    }

    /// Whether settings lead to another server than that of `account`, including settings that replace the provider's.
    private func isElsewhere(_ settings: AccountSettings, than account: Account) -> Bool {
        var plain = settings
        plain.providerSettings = nil
        // If that cannot be determined, assume another server.
        guard let choice = try? choice(plain) else { return true }
        return choice.issuer != account.issuer || choice.provider != account.provider
            || choice.variables != account.providerVariables
    }

    /// Checks the size before anything is read, which limits everything that is read, and then the numbers.
    func checkBounds(of settings: AccountSettings) throws(VarlinkError) {
        try Limit.settingsBytes.check(settings.byteCount, atMost: CallerLimits.settingsBytesMax)
        if let setting = settings.outOfBounds, let bounds = setting.bounds {
            throw Complaint(field: setting.name, "it must be \(bounds.words)").error
        }
    }
}

/// The allow list in the settings of the wire.
extension SettingsReader {
    private func check(callers settings: AccountSettings) throws(VarlinkError) {
        let (units, executables) = (settings.allowedUnits ?? [], settings.allowedExecutables ?? [])
        try Limit.allowedCallers.check(units.count + executables.count, atMost: CallerLimits.allowedCallersMax)
        for unit in units where !Self.isUnit(unit) {
            throw Complaint(
                field: "allowedUnits",
                "'\(unit)' is not the full name of a service or scope",
                hint: "the name that '\(Command(program: "systemctl", "--user", "status"))' shows, which ends in "
                    + ".service or .scope"
            ).error
        }
        for path in executables where !Self.isPath(path) {
            throw Complaint(
                field: "allowedExecutables",
                "'\(path)' is not an absolute path",
                hint: Hint(Command(program: "command", "-v", "NAME"))
            ).error
        }
    }

    /// systemd.unit(5): letters, digits and `:-_.\\@`, up to 255. Only services and scopes have processes. Patterns are
    /// not allowed; `@` belongs to a template and names one instance.
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

    static func isPath(_ path: String) -> Bool {
        path.hasPrefix("/") && path.utf8.count < 4096 && !path.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
}

extension Complaint {
    /// The word whose raw value is `name`; nil if there is no name.
    ///
    /// - Parameter kind: what `name` should be, after "is not".
    static func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String?,
        field: String,
        kind: String
    ) throws(VarlinkError) -> Word? {
        guard let name else { return nil }
        if let word = Word(rawValue: name) { return word }
        throw Complaint(
            field: field,
            "'\(name)' is not \(kind)",
            hint: "known: \(Word.allCases.map(\.rawValue).joined(separator: ", "))"
        ).error
    }

    static func empty(field: String) -> Complaint {
        Complaint(field: field, "it is empty")
    }

    static func noAccountName(_ name: String, field: String) -> Complaint {
        Complaint(
            field: field,
            "'\(name)' is not an account name",
            hint: "1 to 64 letters, digits and ._@+-, not starting with . or -"
        )
    }

    init(_ error: ValueError) {
        self.init(field: error.field, error.reason, hint: error.hint.map { Hint($0) })
    }
}

/// Changes settings.
extension AccountSettings {
    /// Applies the fields of `change`. Missing fields stay as they are.
    mutating func apply(_ change: AccountSettings) {
        // The issuer was computed from them.
        if change.variables != nil { issuer = nil }
        for setting in Setting.changeable where change[setting] != nil { copy(setting, from: change) }
    }

    /// Clears a field, by its name on the wire.
    ///
    /// - Returns: false if the field cannot be cleared, or does not exist.
    mutating func clear(_ field: String) -> Bool {
        guard let setting = Setting.named(field), setting.change == .any else { return false }
        clear(setting)
        // They belong to the provider.
        if field == "provider" { (variables, providerSettings) = (nil, nil) }
        return true
    }
}
