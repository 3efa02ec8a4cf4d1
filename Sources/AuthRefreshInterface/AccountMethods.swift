/// The wire types of `ListAccounts`.
package enum ListAccounts {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var accounts: [String]?
        package var after: String?
        package var limit: Int64?

        package init(accounts: [String]? = nil, after: String? = nil, limit: Int64? = nil) {
            self.accounts = accounts
            self.after = after
            self.limit = limit
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var accounts: [AccountSettings]
        package var damaged: [AccountStatus]?
        package var next: String?

        package init(accounts: [AccountSettings], damaged: [AccountStatus]? = nil, next: String? = nil) {
            self.accounts = accounts
            self.damaged = damaged
            self.next = next
        }
    }
}

/// The wire types of `UpdateAccount`.
package enum UpdateAccount {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var clear: [String]?
        package var issuer: String?
        package var provider: String?
        package var variables: [String: String]?
        package var providerSettings: [String: String]?
        package var clientId: String?
        package var clientAuthentication: String?
        package var clientSecret: String?
        package var clientKey: String?
        package var clientKeyId: String?
        package var teamId: String?
        package var assertionSubject: String?
        package var assertionAudience: String?
        package var assertionLifetimeSec: Int64?
        package var scopes: [String]?
        package var refreshParameters: [String: String]?
        package var authorizationParameters: [String: String]?
        package var authorizationDetails: String?
        package var redirectUri: String?
        package var redirectPort: Int64?
        package var redirectScheme: String?
        package var postLogoutRedirectUri: String?
        package var leadTimeSec: Int64?
        package var rotationGraceSec: Int64?
        package var refreshTokenLifetimeSec: Int64?
        package var allowedUnits: [String]?
        package var allowedExecutables: [String]?
        package var refreshToken: String?

        package init(
            account: String,
            clear: [String]? = nil,
            issuer: String? = nil,
            provider: String? = nil,
            variables: [String: String]? = nil,
            providerSettings: [String: String]? = nil,
            clientId: String? = nil,
            clientAuthentication: String? = nil,
            clientSecret: String? = nil,
            clientKey: String? = nil,
            clientKeyId: String? = nil,
            teamId: String? = nil,
            assertionSubject: String? = nil,
            assertionAudience: String? = nil,
            assertionLifetimeSec: Int64? = nil,
            scopes: [String]? = nil,
            refreshParameters: [String: String]? = nil,
            authorizationParameters: [String: String]? = nil,
            authorizationDetails: String? = nil,
            redirectUri: String? = nil,
            redirectPort: Int64? = nil,
            redirectScheme: String? = nil,
            postLogoutRedirectUri: String? = nil,
            leadTimeSec: Int64? = nil,
            rotationGraceSec: Int64? = nil,
            refreshTokenLifetimeSec: Int64? = nil,
            allowedUnits: [String]? = nil,
            allowedExecutables: [String]? = nil,
            refreshToken: String? = nil
        ) {
            self.account = account
            self.clear = clear
            self.issuer = issuer
            self.provider = provider
            self.variables = variables
            self.providerSettings = providerSettings
            self.clientId = clientId
            self.clientAuthentication = clientAuthentication
            self.clientSecret = clientSecret
            self.clientKey = clientKey
            self.clientKeyId = clientKeyId
            self.teamId = teamId
            self.assertionSubject = assertionSubject
            self.assertionAudience = assertionAudience
            self.assertionLifetimeSec = assertionLifetimeSec
            self.scopes = scopes
            self.refreshParameters = refreshParameters
            self.authorizationParameters = authorizationParameters
            self.authorizationDetails = authorizationDetails
            self.redirectUri = redirectUri
            self.redirectPort = redirectPort
            self.redirectScheme = redirectScheme
            self.postLogoutRedirectUri = postLogoutRedirectUri
            self.leadTimeSec = leadTimeSec
            self.rotationGraceSec = rotationGraceSec
            self.refreshTokenLifetimeSec = refreshTokenLifetimeSec
            self.allowedUnits = allowedUnits
            self.allowedExecutables = allowedExecutables
            self.refreshToken = refreshToken
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var settings: AccountSettings

        package init(settings: AccountSettings) {
            self.settings = settings
        }
    }
}

/// The wire types of `RenameAccount`.
package enum RenameAccount {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var newName: String

        package init(account: String, newName: String) {
            self.account = account
            self.newName = newName
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package init() {}
    }
}

/// The wire types of `RemoveAccount`.
package enum RemoveAccount {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package init() {}
    }
}
