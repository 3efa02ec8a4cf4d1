/// The wire types of `ImportGrant`.
package enum ImportGrant {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var refreshToken: String

        package init(account: String, refreshToken: String) {
            self.account = account
            self.refreshToken = refreshToken
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}

/// The wire types of `ExportGrant`.
package enum ExportGrant {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var settings: AccountSettings
        package var clientSecret: String?
        package var clientKey: String?
        package var refreshToken: String?
        package var registration: ManagedRegistration?
        package var clientSecretExpiresAtUSec: Int64?

        package init(
            settings: AccountSettings,
            clientSecret: String? = nil,
            clientKey: String? = nil,
            refreshToken: String? = nil,
            registration: ManagedRegistration? = nil,
            clientSecretExpiresAtUSec: Int64? = nil
        ) {
            self.clientSecretExpiresAtUSec = clientSecretExpiresAtUSec
            self.registration = registration
            self.settings = settings
            self.clientSecret = clientSecret
            self.clientKey = clientKey
            self.refreshToken = refreshToken
        }
    }
}

/// The wire types of `AcquireToken`.
package enum AcquireToken {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var minimumValiditySec: Int64?
        package var scopes: [String]?
        package var resources: [String]?
        package var audience: String?
        package var force: Bool?

        package init(
            account: String,
            minimumValiditySec: Int64? = nil,
            scopes: [String]? = nil,
            resources: [String]? = nil,
            audience: String? = nil,
            force: Bool? = nil
        ) {
            self.account = account
            self.minimumValiditySec = minimumValiditySec
            self.scopes = scopes
            self.resources = resources
            self.audience = audience
            self.force = force
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var accessToken: String
        package var tokenType: String
        package var expiresAtUSec: Int64
        package var scopes: [String]?

        package init(accessToken: String, tokenType: String, expiresAtUSec: Int64, scopes: [String]? = nil) {
            self.accessToken = accessToken
            self.tokenType = tokenType
            self.expiresAtUSec = expiresAtUSec
            self.scopes = scopes
        }
    }
}

/// The wire types of `ProvePossession`.
package enum ProvePossession {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var method: String
        package var url: String
        package var accessToken: String?
        package var nonce: String?

        package init(
            account: String,
            method: String,
            url: String,
            accessToken: String? = nil,
            nonce: String? = nil
        ) {
            self.account = account
            self.method = method
            self.url = url
            self.accessToken = accessToken
            self.nonce = nonce
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var proof: String

        package init(proof: String) {
            self.proof = proof
        }
    }
}

/// The wire types of `ReportRejected`.
package enum ReportRejected {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var scopes: [String]?
        package var resources: [String]?
        package var audience: String?
        package var challenge: String?

        package init(
            account: String,
            scopes: [String]? = nil,
            resources: [String]? = nil,
            audience: String? = nil,
            challenge: String? = nil
        ) {
            self.account = account
            self.scopes = scopes
            self.resources = resources
            self.audience = audience
            self.challenge = challenge
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}

/// The wire types of `Refresh`.
package enum Refresh {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}
