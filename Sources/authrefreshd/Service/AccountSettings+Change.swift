internal import AuthRefreshInterface

/// Changing an account's settings, field by field.
extension AccountSettings {
    /// Takes over what `change` says; what it leaves out stays.
    ///
    /// Provider settings that were said for one server are not said for another: their addresses would be told what that one gives.
    mutating func apply(_ change: UpdateAccount.Parameters) {
        let before = self
        // The issuer was made of them.
        if change.variables != nil { issuer = nil }
        variables = change.variables ?? variables
        issuer = change.issuer ?? issuer
        provider = change.provider ?? provider
        let isElsewhere = issuer != before.issuer || provider != before.provider || variables != before.variables
        providerSettings = change.providerSettings ?? (isElsewhere ? nil : providerSettings)
        clientId = change.clientId ?? clientId
        clientAuthentication = change.clientAuthentication ?? clientAuthentication
        clientKeyId = change.clientKeyId ?? clientKeyId
        teamId = change.teamId ?? teamId
        assertionSubject = change.assertionSubject ?? assertionSubject
        assertionAudience = change.assertionAudience ?? assertionAudience
        assertionLifetimeSec = change.assertionLifetimeSec ?? assertionLifetimeSec
        scopes = change.scopes ?? scopes
        refreshParameters = change.refreshParameters ?? refreshParameters
        authorizationParameters = change.authorizationParameters ?? authorizationParameters
        authorizationDetails = change.authorizationDetails ?? authorizationDetails
        redirectUri = change.redirectUri ?? redirectUri
        redirectPort = change.redirectPort ?? redirectPort
        redirectScheme = change.redirectScheme ?? redirectScheme
        postLogoutRedirectUri = change.postLogoutRedirectUri ?? postLogoutRedirectUri
        leadTimeSec = change.leadTimeSec ?? leadTimeSec
        rotationGraceSec = change.rotationGraceSec ?? rotationGraceSec
        refreshTokenLifetimeSec = change.refreshTokenLifetimeSec ?? refreshTokenLifetimeSec
        allowedUnits = change.allowedUnits ?? allowedUnits
        allowedExecutables = change.allowedExecutables ?? allowedExecutables
    }

    /// Empties a field, by its name on the wire.
    ///
    /// - Returns: false for one that cannot be empty, or is none.
    mutating func clear(_ field: String) -> Bool {
        switch field {
        case "provider": (provider, variables, providerSettings) = (nil, nil, nil)
        case "providerSettings": providerSettings = nil
        case "clientAuthentication": clientAuthentication = nil
        case "clientKeyId": clientKeyId = nil
        case "teamId": teamId = nil
        case "assertionSubject": assertionSubject = nil
        case "assertionAudience": assertionAudience = nil
        case "assertionLifetimeSec": assertionLifetimeSec = nil
        case "scopes": scopes = nil
        case "refreshParameters": refreshParameters = nil
        case "authorizationParameters": authorizationParameters = nil
        case "authorizationDetails": authorizationDetails = nil
        case "redirectUri": redirectUri = nil
        case "redirectPort": redirectPort = nil
        case "redirectScheme": redirectScheme = nil
        case "postLogoutRedirectUri": postLogoutRedirectUri = nil
        case "leadTimeSec": leadTimeSec = nil
        case "rotationGraceSec": rotationGraceSec = nil
        case "refreshTokenLifetimeSec": refreshTokenLifetimeSec = nil
        case "allowedUnits": allowedUnits = nil
        case "allowedExecutables": allowedExecutables = nil
        default: return false
        }
        return true
    }
}
