internal import AuthRefreshInterface

/// Changing an account's settings.
extension AccountSettings {
    /// Takes over what `change` says; what it leaves out stays.
    ///
    /// Provider settings that were said for one server are not said for another: their addresses would be told what that one gives.
    mutating func apply(_ change: AccountSettings) {
        let before = self
        // The issuer was made of them.
        if change.variables != nil { issuer = nil }
        for setting in Setting.changeable where change[setting] != nil { copy(setting, from: change) }
        let isElsewhere = issuer != before.issuer || provider != before.provider || variables != before.variables
        if isElsewhere { providerSettings = change.providerSettings }
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
