package import CommandLineProgram

/// The wire types of `ListAccounts`.
package enum ListAccounts {
    /// The parameters.
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

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var accounts: [AccountSettings]
        package var damaged: [AccountStatus]?
        package var people: [String: Person]?
        package var next: String?

        package init(
            accounts: [AccountSettings],
            damaged: [AccountStatus]? = nil,
            people: [String: Person]? = nil,
            next: String? = nil
        ) {
            self.accounts = accounts
            self.damaged = damaged
            self.people = people
            self.next = next
        }
    }
}

/// The wire types of `UpdateAccount`.
package enum UpdateAccount {
    /// The parameters. The changed settings are next to the other members.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var clear: [String]?
        /// The changed settings; nil leaves a setting as it is. `name` is the account's name, which does not change.
        package var settings: AccountSettings
        package var clientSecret: String?
        package var clientKey: String?
        package var refreshToken: String?
        package var keepSecret: Bool?
        package var signOutNow: Bool?
        package var withoutCaller: Bool?
        package var register: Bool?
        package var initialAccessToken: String?

        package init(
            account: String,
            clear: [String]? = nil,
            clientSecret: String? = nil,
            clientKey: String? = nil,
            refreshToken: String? = nil,
            keepSecret: Bool? = nil,
            signOutNow: Bool? = nil,
            withoutCaller: Bool? = nil,
            register: Bool? = nil,
            initialAccessToken: String? = nil,
            _ settings: (inout AccountSettings) -> Void = { _ in }
        ) {
            self.account = account
            self.clear = clear
            self.clientSecret = clientSecret
            self.clientKey = clientKey
            self.refreshToken = refreshToken
            self.keepSecret = keepSecret
            self.signOutNow = signOutNow
            self.withoutCaller = withoutCaller
            self.register = register
            self.initialAccessToken = initialAccessToken
            self.settings = AccountSettings(name: account, settings)
        }

        private enum CodingKeys: CodingKey {
            case account, clear, clientSecret, clientKey, refreshToken, keepSecret, signOutNow, withoutCaller
            case register, initialAccessToken
        }

        package init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            account = try members.decode(String.self, forKey: .account)
            clear = try members.decodeIfPresent([String].self, forKey: .clear)
            clientSecret = try members.decodeIfPresent(String.self, forKey: .clientSecret)
            clientKey = try members.decodeIfPresent(String.self, forKey: .clientKey)
            refreshToken = try members.decodeIfPresent(String.self, forKey: .refreshToken)
            keepSecret = try members.decodeIfPresent(Bool.self, forKey: .keepSecret)
            signOutNow = try members.decodeIfPresent(Bool.self, forKey: .signOutNow)
            withoutCaller = try members.decodeIfPresent(Bool.self, forKey: .withoutCaller)
            register = try members.decodeIfPresent(Bool.self, forKey: .register)
            initialAccessToken = try members.decodeIfPresent(String.self, forKey: .initialAccessToken)
            settings = try AccountSettings(Setting.changeable, of: account, from: decoder)
        }

        package func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(account, forKey: .account)
            try members.encodeIfPresent(clear, forKey: .clear)
            try members.encodeIfPresent(clientSecret, forKey: .clientSecret)
            try members.encodeIfPresent(clientKey, forKey: .clientKey)
            try members.encodeIfPresent(refreshToken, forKey: .refreshToken)
            try members.encodeIfPresent(keepSecret, forKey: .keepSecret)
            try members.encodeIfPresent(signOutNow, forKey: .signOutNow)
            try members.encodeIfPresent(withoutCaller, forKey: .withoutCaller)
            try members.encodeIfPresent(register, forKey: .register)
            try members.encodeIfPresent(initialAccessToken, forKey: .initialAccessToken)
            try settings.encode(Setting.changeable, to: encoder)
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var settings: AccountSettings
        package var signOutAtUSec: Int64?

        package init(settings: AccountSettings, signOutAtUSec: Int64? = nil) {
            self.settings = settings
            self.signOutAtUSec = signOutAtUSec
        }
    }
}

/// The wire types of `RenameAccount`.
package enum RenameAccount {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String
        package var newName: String

        package init(account: String, newName: String) {
            self.account = account
            self.newName = newName
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package init() {}
    }
}

/// The wire types of `RemoveAccount`.
package enum RemoveAccount {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package init() {}
    }
}

/// The wire types of `AddAccount`.
package enum AddAccount {
    /// The parameters.
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
        package var withoutCaller: Bool?

        package init(
            settings: AccountSettings,
            clientSecret: String? = nil,
            clientKey: String? = nil,
            dpopKey: String? = nil,
            refreshToken: String? = nil,
            register: Bool? = nil,
            initialAccessToken: String? = nil,
            registration: ManagedRegistration? = nil,
            clientSecretExpiresAtUSec: Int64? = nil,
            withoutCaller: Bool? = nil
        ) {
            self.withoutCaller = withoutCaller
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

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var status: AccountStatus
        package var clientId: String?
        package var redirectUri: String?

        package init(status: AccountStatus, clientId: String? = nil, redirectUri: String? = nil) {
            self.status = status
            self.clientId = clientId
            self.redirectUri = redirectUri
        }
    }
}

/// Parameters of `io.authrefresh.ClientNotRegistered`.
package struct ClientNotRegisteredError: InterfaceError {
    package static let name = "io.authrefresh.ClientNotRegistered"

    package var account: String
    package var kind: String
    package var reason: String
    package var failure: FailureReport
    package var hint: String
    package var command: String?
    package var keepsClient: Bool?

    package init(account: String, kind: String, reason: String, failure: FailureReport, hint: Hint) {
        self.account = account
        self.kind = kind
        self.reason = reason
        self.failure = failure
        self.hint = hint.text
        self.command = hint.command
    }
}

/// The access with which a client that registered itself manages its registration. The fields are described in
/// `io.authrefresh.varlink`.
package struct ManagedRegistration: Codable, Hashable, Sendable {
    package var uri: String
    package var accessToken: String

    package init(uri: String, accessToken: String) {
        self.uri = uri
        self.accessToken = accessToken
    }
}
