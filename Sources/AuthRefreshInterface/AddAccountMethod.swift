/// The wire types of `AddAccount`.
package enum AddAccount {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package var settings: AccountSettings
        package var clientSecret: String?
        package var clientKey: String?
        package var dpopKey: String?
        package var refreshToken: String?
        package var register: Bool?
        package var initialAccessToken: String?
        package var registration: ManagedRegistration?
        package var clientSecretExpiresAtUSec: Int64?

        package init(
            settings: AccountSettings,
            clientSecret: String? = nil,
            clientKey: String? = nil,
            dpopKey: String? = nil,
            refreshToken: String? = nil,
            register: Bool? = nil,
            initialAccessToken: String? = nil,
            registration: ManagedRegistration? = nil,
            clientSecretExpiresAtUSec: Int64? = nil
        ) {
            self.clientSecretExpiresAtUSec = clientSecretExpiresAtUSec
            self.registration = registration
            self.settings = settings
            self.clientSecret = clientSecret
            self.clientKey = clientKey
            self.dpopKey = dpopKey
            self.refreshToken = refreshToken
            self.register = register
            self.initialAccessToken = initialAccessToken
        }
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus
        package var clientId: String?

        package init(status: AccountStatus, clientId: String? = nil) {
            self.status = status
            self.clientId = clientId
        }
    }
}

/// Parameters of `io.authrefresh.ClientNotRegistered`.
package struct ClientNotRegisteredError: InterfaceError {
    package static let name = "io.authrefresh.ClientNotRegistered"

    package var account: String
    package var kind: String
    package var reason: String
    package var failure: Failure
    package var hint: String

    package init(account: String, kind: String, reason: String, failure: Failure, hint: String) {
        self.account = account
        self.kind = kind
        self.reason = reason
        self.failure = failure
        self.hint = hint
    }
}
