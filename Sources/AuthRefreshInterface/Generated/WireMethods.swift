// Generated from io.authrefresh.varlink by Sources/AuthRefreshInterface/generate. Do not edit.

extension Interface {
    package static let name = "io.authrefresh"
}

/// The methods of `io.authrefresh`.
package enum Method: String, CaseIterable, Sendable {
    case getInfo = "io.authrefresh.GetInfo"
    case getMetrics = "io.authrefresh.GetMetrics"
    case getStatus = "io.authrefresh.GetStatus"
    case listAccounts = "io.authrefresh.ListAccounts"
    case findAccount = "io.authrefresh.FindAccount"
    case listUrls = "io.authrefresh.ListUrls"
    case addAccount = "io.authrefresh.AddAccount"
    case updateAccount = "io.authrefresh.UpdateAccount"
    case applyAccounts = "io.authrefresh.ApplyAccounts"
    case renameAccount = "io.authrefresh.RenameAccount"
    case removeAccount = "io.authrefresh.RemoveAccount"
    case importGrant = "io.authrefresh.ImportGrant"
    case exportGrant = "io.authrefresh.ExportGrant"
    case resumeAccount = "io.authrefresh.ResumeAccount"
    case acquireToken = "io.authrefresh.AcquireToken"
    case provePossession = "io.authrefresh.ProvePossession"
    case reportRejected = "io.authrefresh.ReportRejected"
    case refresh = "io.authrefresh.Refresh"
    case subscribe = "io.authrefresh.Subscribe"
    case startSignIn = "io.authrefresh.StartSignIn"
    case continueSignIn = "io.authrefresh.ContinueSignIn"
    case cancelSignIn = "io.authrefresh.CancelSignIn"
    case startWebSession = "io.authrefresh.StartWebSession"
    case serveConfirmations = "io.authrefresh.ServeConfirmations"
    case answerConfirmation = "io.authrefresh.AnswerConfirmation"
    case signOut = "io.authrefresh.SignOut"
    case backupStore = "io.authrefresh.BackupStore"
    case listProviders = "io.authrefresh.ListProviders"
    case discoverProvider = "io.authrefresh.DiscoverProvider"
    case checkServer = "io.authrefresh.CheckServer"
    case discoverResource = "io.authrefresh.DiscoverResource"
    case rekeyStore = "io.authrefresh.RekeyStore"
    case checkStore = "io.authrefresh.CheckStore"
    case diagnose = "io.authrefresh.Diagnose"

    /// The type of its parameters.
    package var parameters: any (Codable & Hashable & Sendable).Type {
        switch self {
        case .getInfo: GetInfo.Parameters.self
        case .getMetrics: GetMetrics.Parameters.self
        case .getStatus: GetStatus.Parameters.self
        case .listAccounts: ListAccounts.Parameters.self
        case .findAccount: FindAccount.Parameters.self
        case .listUrls: ListUrls.Parameters.self
        case .addAccount: AddAccount.Parameters.self
        case .updateAccount: UpdateAccount.Parameters.self
        case .applyAccounts: ApplyAccounts.Parameters.self
        case .renameAccount: RenameAccount.Parameters.self
        case .removeAccount: RemoveAccount.Parameters.self
        case .importGrant: ImportGrant.Parameters.self
        case .exportGrant: ExportGrant.Parameters.self
        case .resumeAccount: ResumeAccount.Parameters.self
        case .acquireToken: AcquireToken.Parameters.self
        case .provePossession: ProvePossession.Parameters.self
        case .reportRejected: ReportRejected.Parameters.self
        case .refresh: Refresh.Parameters.self
        case .subscribe: Subscribe.Parameters.self
        case .startSignIn: StartSignIn.Parameters.self
        case .continueSignIn: ContinueSignIn.Parameters.self
        case .cancelSignIn: CancelSignIn.Parameters.self
        case .startWebSession: StartWebSession.Parameters.self
        case .serveConfirmations: ServeConfirmations.Parameters.self
        case .answerConfirmation: AnswerConfirmation.Parameters.self
        case .signOut: SignOut.Parameters.self
        case .backupStore: BackupStore.Parameters.self
        case .listProviders: ListProviders.Parameters.self
        case .discoverProvider: DiscoverProvider.Parameters.self
        case .checkServer: CheckServer.Parameters.self
        case .discoverResource: DiscoverResource.Parameters.self
        case .rekeyStore: RekeyStore.Parameters.self
        case .checkStore: CheckStore.Parameters.self
        case .diagnose: Diagnose.Parameters.self
        }
    }
}

/// Says what is running and whether it is well.
package enum GetInfo {
    package struct Parameters: CallParameters {
        package typealias Reply = GetInfo.Reply
        package static var method: Method { .getInfo }

        package init() {}
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The daemon's version.
        package var version: String
        /// When it was started, µs since 1970.
        package var startedAtUSec: Int64
        /// How many accounts it keeps.
        package var accounts: Int64
        /// How many of them need a person.
        package var interactionRequired: Int64
        /// The earliest deadline of all accounts, µs since 1970. Absent: there is none.
        package var nextDeadlineUSec: Int64?
        /// Whether a network route is up. Without one, the daemon refreshes only at servers on loopback.
        package var online: Bool
        /// What keeps the daemon from working, in one sentence. Absent: nothing.
        package var trouble: String?
        /// How many accounts the store cannot read. GetStatus says which. Absent: none.
        package var damaged: Int64?
        /// The proxy that requests to other machines go through: HOST:PORT, or the name of the variable that names one
        /// that cannot be used. Absent: none.
        package var proxy: String?

        package init(
            version: String,
            startedAtUSec: Int64,
            accounts: Int64,
            interactionRequired: Int64,
            nextDeadlineUSec: Int64? = nil,
            online: Bool,
            trouble: String? = nil,
            damaged: Int64? = nil,
            proxy: String? = nil
        ) {
            self.version = version
            self.startedAtUSec = startedAtUSec
            self.accounts = accounts
            self.interactionRequired = interactionRequired
            self.nextDeadlineUSec = nextDeadlineUSec
            self.online = online
            self.trouble = trouble
            self.damaged = damaged
            self.proxy = proxy
        }
    }
}

/// Returns figures for a monitoring system. All counts begin at 0 when the daemon starts.
package enum GetMetrics {
    package struct Parameters: CallParameters {
        package typealias Reply = GetMetrics.Reply
        package static var method: Method { .getMetrics }

        package init() {}
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The daemon's version.
        package var version: String
        /// The time now, µs since 1970.
        package var atUSec: Int64
        /// When it was started, µs since 1970.
        package var startedAtUSec: Int64
        /// Whether a network route is up.
        package var online: Bool
        /// How many accounts are in each state. The states are those of AccountStatus, with two exceptions:
        /// refresh-token-expiring counts as fresh, and stepUp and scopesLost do not count as interaction-required.
        package var states: [String: Int64]
        /// All accounts, if there are 1000 or fewer. Otherwise only those that are retrying, misconfigured or need a
        /// person, at most 1000 of them.
        package var accounts: [AccountExpiry]
        /// How many token requests brought a token.
        package var requestsSucceeded: Int64
        /// How many brought none, by cause: unreachable, unanswered, unavailable, misconfigured, untrusted, rejected,
        /// refusedByGateway, grantEnded, userRequired, refusedHere.
        package var requestsFailed: [String: Int64]
        /// The histogram of the durations of token requests: the upper ends of its buckets in milliseconds, in
        /// ascending order.
        package var bucketEndsMs: [Int64]
        /// How many requests are in each bucket: longer than the previous end, and at most this bucket's end. One more
        /// number counts the requests that took longer than the last end.
        package var buckets: [Int64]
        /// How many milliseconds all requests took in total.
        package var requestsMs: Int64

        package init(
            version: String,
            atUSec: Int64,
            startedAtUSec: Int64,
            online: Bool,
            states: [String: Int64],
            accounts: [AccountExpiry],
            requestsSucceeded: Int64,
            requestsFailed: [String: Int64],
            bucketEndsMs: [Int64],
            buckets: [Int64],
            requestsMs: Int64
        ) {
            self.version = version
            self.atUSec = atUSec
            self.startedAtUSec = startedAtUSec
            self.online = online
            self.states = states
            self.accounts = accounts
            self.requestsSucceeded = requestsSucceeded
            self.requestsFailed = requestsFailed
            self.bucketEndsMs = bucketEndsMs
            self.buckets = buckets
            self.requestsMs = requestsMs
        }
    }
}

/// Returns the states of accounts, in the order of their names.
package enum GetStatus {
    package struct Parameters: CallParameters {
        package typealias Reply = GetStatus.Reply
        package static var method: Method { .getStatus }

        /// The accounts to return. Absent: all, one page for each call.
        package var accounts: [String]?
        /// Start after this name. Absent: at the beginning.
        package var after: String?
        /// At most this many, 1 or more. A page never has more than 500. Absent: 500.
        package var limit: Int64?

        package init(accounts: [String]? = nil, after: String? = nil, limit: Int64? = nil) {
            self.accounts = accounts
            self.after = after
            self.limit = limit
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// One for each account of the page.
        package var accounts: [AccountStatus]
        /// Call again with this as "after" to get the rest. Absent: there is no more.
        package var next: String?

        package init(accounts: [AccountStatus], next: String? = nil) {
            self.accounts = accounts
            self.next = next
        }
    }
}

/// Returns the settings of accounts, in the order of their names.
package enum ListAccounts {
    package struct Parameters: CallParameters {
        package typealias Reply = ListAccounts.Reply
        package static var method: Method { .listAccounts }

        /// The accounts to return. Absent: all, one page for each call.
        package var accounts: [String]?
        /// Start after this name. Absent: at the beginning.
        package var after: String?
        /// At most this many, 1 or more. A page never has more than 500. Absent: 500.
        package var limit: Int64?

        package init(accounts: [String]? = nil, after: String? = nil, limit: Int64? = nil) {
            self.accounts = accounts
            self.after = after
            self.limit = limit
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// One for each account of the page.
        package var accounts: [AccountSettings]
        /// The accounts of the page that the store cannot read, as GetStatus shows them. Absent: none.
        package var damaged: [AccountStatus]?
        /// Who signed in, by account name. Absent: no server of these accounts told it.
        package var people: [String: Person]?
        /// Call again with this as "after" to get the rest. Absent: there is no more.
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

/// Finds the account that a tool should use for an address. It is the account with the longest matching address ("urls"
/// of its settings). Paths are compared by whole segments. If several accounts match equally, the one that was added
/// first is chosen. A dot at the end of a host's name means nothing, and index.docker.io is docker.io.
package enum FindAccount {
    package struct Parameters: CallParameters {
        package typealias Reply = FindAccount.Reply
        package static var method: Method { .findAccount }

        /// The address. If it is one that no account can have, no account is found.
        package var url: String
        /// The user name that the tool wants to sign in with. An account with another user name does not match. Names
        /// may differ in upper and lower case. Absent: any.
        package var username: String?
        /// The account to use, whatever the address is, if its scheme is https, imaps or smtp, or http on this machine.
        /// With any other scheme, no account is found. Absent: the daemon looks for an account.
        package var account: String?

        package init(url: String, username: String? = nil, account: String? = nil) {
            self.url = url
            self.username = username
            self.account = account
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account's name. Absent: no account matches.
        package var account: String?
        /// The user name that goes with the token as a password. Absent: any.
        package var username: String?
        /// Whether the service's git server also accepts the token in a header: "git_authorization" of the provider
        /// profile. Absent: not known.
        package var bearer: Bool?
        /// Other accounts with this address and user name, at most 9. They are never chosen. Absent: there are none, or
        /// the call names the account.
        package var others: [String]?

        package init(account: String? = nil, username: String? = nil, bearer: Bool? = nil, others: [String]? = nil) {
            self.account = account
            self.username = username
            self.bearer = bearer
            self.others = others
        }
    }
}

/// Returns the addresses of all accounts in a fixed order, each with the account that FindAccount chooses for it.
package enum ListUrls {
    package struct Parameters: CallParameters {
        package typealias Reply = ListUrls.Reply
        package static var method: Method { .listUrls }

        /// Start after this address: "next" of the previous page. Absent: at the beginning.
        package var after: String?

        package init(after: String? = nil) {
            self.after = after
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The addresses of the page, at most 500.
        package var urls: [ServiceUrl]
        /// Call again with this as "after" to get the rest. Absent: there is no more.
        package var next: String?

        package init(urls: [ServiceUrl], next: String? = nil) {
            self.urls = urls
            self.next = next
        }
    }
}

/// Adds an account. If the call has a refresh token, the daemon refreshes the account at once.
package enum AddAccount {
    package struct Parameters: CallParameters {
        package typealias Reply = AddAccount.Reply
        package static var method: Method { .addAccount }

        /// Its settings. Its name must be free.
        package var settings: AccountSettings
        /// The client secret. Absent: a public client.
        package var clientSecret: String?
        /// The client's private key: PEM or JWK, with its certificate for the tls methods, or Google's JSON file of a
        /// service account. Absent: it has none.
        package var clientKey: String?
        /// The key that the account's tokens are bound to, as ExportGrant returned it. Absent: with "dpop", the daemon
        /// makes a new key.
        package var dpopKey: String?
        /// The first refresh token. Absent: the account starts signed out.
        package var refreshToken: String?
        /// Register a client for the account at the server first (RFC 7591), with the redirect URIs, scopes, key and
        /// client authentication of the settings. Their clientId must be empty. Absent: false.
        package var register: Bool?
        /// The initial access token that the server requires for a registration (RFC 7591 section 3). Absent: the
        /// server requires none.
        package var initialAccessToken: String?
        /// The client's registration, as ExportGrant returned it. Absent: it was registered by hand.
        package var registration: ManagedRegistration?
        /// When the server stops accepting the client secret, µs since 1970. Absent: unknown or never.
        package var clientSecretExpiresAtUSec: Int64?
        /// As in UpdateAccount. Absent: false.
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
            self.settings = settings
            self.clientSecret = clientSecret
            self.clientKey = clientKey
            self.dpopKey = dpopKey
            self.refreshToken = refreshToken
            self.register = register
            self.initialAccessToken = initialAccessToken
            self.registration = registration
            self.clientSecretExpiresAtUSec = clientSecretExpiresAtUSec
            self.withoutCaller = withoutCaller
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account's state before its first refresh.
        package var status: AccountStatus
        /// The client id that the server gave. Absent: no client was registered.
        package var clientId: String?
        /// The redirect URI that you must register for the client before anybody can sign in. Its path differs for each
        /// issuer. If it has no port, the daemon uses any port (RFC 8252 section 7.3). Absent: the settings or the
        /// provider profile name one, or none is needed.
        package var redirectUri: String?

        package init(status: AccountStatus, clientId: String? = nil, redirectUri: String? = nil) {
            self.status = status
            self.clientId = clientId
            self.redirectUri = redirectUri
        }
    }
}

/// Changes an account. Absent fields stay as they are. The issuer of an account that has a grant cannot be changed. If
/// an account has a list of allowed callers, only those callers can change it.
package enum UpdateAccount {
    package struct Parameters: CallParameters {
        package typealias Reply = UpdateAccount.Reply
        package static var method: Method { .updateAccount }

        /// The account's local name.
        package var account: String
        /// Names of fields of AccountSettings, "clientSecret" or "clientKey", to clear. Absent: none.
        package var clear: [String]?
        /// The client secret. Absent: as it is.
        package var clientSecret: String?
        /// When the server stops accepting the client secret, µs since 1970. Absent: unknown or never for a new secret,
        /// else as it is.
        package var clientSecretExpiresAtUSec: Int64?
        /// The client's private key. Absent: as it is.
        package var clientKey: String?
        /// A refresh token from elsewhere that belongs to these settings, up to 65536 bytes. The daemon imports it as
        /// ImportGrant does. If the call fails with GrantNotImported, the settings are not changed either. Absent: the
        /// account keeps its grant.
        package var refreshToken: String?
        /// Whether the account keeps the client secret and the client's key if the change leads to another server.
        /// false clears them. Absent: the daemon refuses such a change if the account has a secret or a key that the
        /// call neither replaces nor clears.
        package var keepSecret: Bool?
        /// Whether the account may sign out at once, because its last sign-in is longer ago than the new
        /// forgetAfterSec. Absent: false. The daemon then refuses such a change with InvalidSettings.
        package var signOutNow: Bool?
        /// Whether the caller may be missing on the list of allowed callers that the call sets. Absent: false. The
        /// daemon then refuses a list without the caller with InvalidSettings, whose field is "withoutCaller".
        package var withoutCaller: Bool?
        /// Register a new client for the account at its server (RFC 7591), with the settings after the change, in place
        /// of the one that it has. The grant belongs to the old client, so somebody has to sign in. The call fails with
        /// ClientNotRegistered if the server refuses. Absent: false.
        package var register: Bool?
        /// As in AddAccount. Absent: the server requires none.
        package var initialAccessToken: String?
        /// The changed settings; nil leaves a setting as it is. `name` is the account's name, which does not change.
        package var settings: AccountSettings

        package init(
            account: String,
            clear: [String]? = nil,
            clientSecret: String? = nil,
            clientSecretExpiresAtUSec: Int64? = nil,
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
            self.clientSecretExpiresAtUSec = clientSecretExpiresAtUSec
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
            case account
            case clear
            case clientSecret
            case clientSecretExpiresAtUSec
            case clientKey
            case refreshToken
            case keepSecret
            case signOutNow
            case withoutCaller
            case register
            case initialAccessToken
        }

        package init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            account = try members.decode(String.self, forKey: .account)
            clear = try members.decodeIfPresent([String].self, forKey: .clear)
            clientSecret = try members.decodeIfPresent(String.self, forKey: .clientSecret)
            clientSecretExpiresAtUSec = try members.decodeIfPresent(Int64.self, forKey: .clientSecretExpiresAtUSec)
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
            try members.encodeIfPresent(clientSecretExpiresAtUSec, forKey: .clientSecretExpiresAtUSec)
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

    package struct Reply: Codable, Hashable, Sendable {
        /// All settings, after the change.
        package var settings: AccountSettings
        /// When the account signs out by itself, µs since 1970. Absent: it stays signed in, or it is signed out.
        package var signOutAtUSec: Int64?

        package init(settings: AccountSettings, signOutAtUSec: Int64? = nil) {
            self.settings = settings
            self.signOutAtUSec = signOutAtUSec
        }
    }
}

/// Gives accounts the settings that a file describes: adds those that are missing, and changes those that differ.
/// Grants stay as they are, and so do secrets that the call does not name. The daemon checks everything first, and
/// stores all of it in one commit, or nothing. An account may be derived from another one in the call. A setting that
/// cannot be changed and differs is refused with InvalidSettings, and so is everything that AddAccount and
/// UpdateAccount refuse. The field "account" of the error names the account. If an account that changes or is removed
/// has "confirm", the user is asked about each. Accounts are never renamed.
package enum ApplyAccounts {
    package struct Parameters: CallParameters {
        package typealias Reply = ApplyAccounts.Reply
        package static var method: Method { .applyAccounts }

        /// The accounts, at most 1000, each name once.
        package var accounts: [DescribedAccount]
        /// Whether accounts that the call does not name are removed, with their tokens, at most 1000. Accounts that the
        /// store cannot read are kept. Absent: false.
        package var prune: Bool?
        /// Change nothing, ask nobody, and only return what would be done. Absent: false.
        package var dryRun: Bool?
        /// As in UpdateAccount. Absent: false.
        package var signOutNow: Bool?
        /// As in UpdateAccount. Absent: false.
        package var withoutCaller: Bool?

        package init(
            accounts: [DescribedAccount],
            prune: Bool? = nil,
            dryRun: Bool? = nil,
            signOutNow: Bool? = nil,
            withoutCaller: Bool? = nil
        ) {
            self.accounts = accounts
            self.prune = prune
            self.dryRun = dryRun
            self.signOutNow = signOutNow
            self.withoutCaller = withoutCaller
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// One for each account of the call, in its order; then those that are removed, by name.
        package var accounts: [AppliedAccount]

        package init(accounts: [AppliedAccount]) {
            self.accounts = accounts
        }
    }
}

/// Renames an account. Its tokens stay. If the account has "confirm", the user is asked.
package enum RenameAccount {
    package struct Parameters: CallParameters {
        package typealias Reply = RenameAccount.Reply
        package static var method: Method { .renameAccount }

        /// The present name.
        package var account: String
        /// The new name, as in AccountSettings. It must be free.
        package var newName: String

        package init(account: String, newName: String) {
            self.account = account
            self.newName = newName
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        package init() {}
    }
}

/// Removes an account and its tokens. The server is not told (see SignOut). If the account has "confirm", the user is
/// asked.
package enum RemoveAccount {
    package struct Parameters: CallParameters {
        package typealias Reply = RemoveAccount.Reply
        package static var method: Method { .removeAccount }

        /// The account's local name.
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        package init() {}
    }
}

/// Imports a refresh token from elsewhere, and refreshes at once. Service accounts have no refresh token. If the
/// account has a grant that may still work, the daemon replaces it only after the server has given tokens for the new
/// one. If the server gives none, the call fails with GrantNotImported, and the account stays as it was. If the token
/// was imported or exported before, and the account still holds its grant, the daemon refreshes with the current token
/// instead. If the account has "confirm", the user is asked.
package enum ImportGrant {
    package struct Parameters: CallParameters {
        package typealias Reply = ImportGrant.Reply
        package static var method: Method { .importGrant }

        /// The account's local name.
        package var account: String
        /// The refresh token, up to 65536 bytes.
        package var refreshToken: String

        package init(account: String, refreshToken: String) {
            self.account = account
            self.refreshToken = refreshToken
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account's state: after the refresh, if the account had a grant that might still work; otherwise before
        /// it.
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}

/// Returns everything that another machine needs to use the account, including the secrets.
package enum ExportGrant {
    package struct Parameters: CallParameters {
        package typealias Reply = ExportGrant.Reply
        package static var method: Method { .exportGrant }

        /// The account's local name.
        package var account: String
        /// Park the account: the daemon keeps the grant here, but does not use it until ResumeAccount is called or the
        /// account is removed. If two machines use one grant, the server may end it. The call fails with
        /// InvalidSettings if the account has no refresh token. Absent: false.
        package var park: Bool?

        package init(account: String, park: Bool? = nil) {
            self.account = account
            self.park = park
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account's settings, for AddAccount.
        package var settings: AccountSettings
        /// The client secret. Absent: a public client.
        package var clientSecret: String?
        /// The client's private key, PEM or JWK, with its certificate for the tls methods. Absent: it has none.
        package var clientKey: String?
        /// The private value of the P-256 key that the account's tokens are bound to (RFC 9449): 32 bytes, base64url.
        /// Absent: the tokens are not bound to a key.
        package var dpopKey: String?
        /// The current refresh token. Absent: the account is signed out.
        package var refreshToken: String?
        /// What is needed to delete the client's registration. Absent: the client was registered by hand, or the server
        /// does not allow it.
        package var registration: ManagedRegistration?
        /// When the server stops accepting the client secret, µs since 1970. Absent: unknown or never.
        package var clientSecretExpiresAtUSec: Int64?

        package init(
            settings: AccountSettings,
            clientSecret: String? = nil,
            clientKey: String? = nil,
            dpopKey: String? = nil,
            refreshToken: String? = nil,
            registration: ManagedRegistration? = nil,
            clientSecretExpiresAtUSec: Int64? = nil
        ) {
            self.settings = settings
            self.clientSecret = clientSecret
            self.clientKey = clientKey
            self.dpopKey = dpopKey
            self.refreshToken = refreshToken
            self.registration = registration
            self.clientSecretExpiresAtUSec = clientSecretExpiresAtUSec
        }
    }
}

/// Uses the grant of a parked account here again, and waits for its first refresh. If the account is not parked,
/// nothing changes.
package enum ResumeAccount {
    package struct Parameters: CallParameters {
        package typealias Reply = ResumeAccount.Reply
        package static var method: Method { .resumeAccount }

        /// The account's local name.
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account's state after the refresh.
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}

/// Returns an access token that is valid for long enough. If there is none, the call waits for a refresh. With scopes,
/// resources, an audience or claims, the token is that of a token set. The daemon obtains it with the account's own
/// grant when somebody first asks for it, stores it, and shares it between all callers that name the same values. If
/// the server refuses a set, only the callers of that set are affected.
package enum AcquireToken {
    package struct Parameters: CallParameters {
        package typealias Reply = AcquireToken.Reply
        package static var method: Method { .acquireToken }

        /// The account's local name.
        package var account: String
        /// How long the token must still be valid, in seconds. Absent: 30, or a tenth of a lifetime below five minutes.
        package var minimumValiditySec: Int64?
        /// "scope" of RFC 6749 section 6, one scope in each element, in any order. Absent or empty: not sent.
        package var scopes: [String]?
        /// "resource" of RFC 8707 section 2: absolute URIs without a fragment. Absent or empty: not sent.
        package var resources: [String]?
        /// "audience", for servers that accept one. Absent: not sent.
        package var audience: String?
        /// "claims" of OpenID Connect Core section 5.5, a JSON object as text. Absent: not sent.
        package var claims: String?
        /// Refresh even if the token is valid, and ask again for a set that was refused a moment ago. As with Refresh,
        /// the daemon asks the server once a second at most. Absent: false.
        package var force: Bool?
        /// Return the account's ID token, too. If it has expired, the call waits for a refresh. Not together with a
        /// token set. If the account has no ID token, or the server sends none with a refresh, the call fails with
        /// InteractionRequired, "noIDToken". Absent: false.
        package var idToken: Bool?
        /// Where the program runs that gets the token, if it has a socket of "authctl forward": the other machine, or
        /// on this one "the socket PATH". If the account has "confirm", the question names it. Absent: this machine.
        package var host: String?
        /// The identifier that the account must have (AccountStatus). If another account has the name now, the call
        /// fails with NoSuchAccount. Absent: any account of this name.
        package var accountId: String?
        /// The program that keeps the token. If the same program has the account's current token for the same use, and
        /// asks again before the time that it was told, a server has refused the token. The daemon then asks for
        /// another one, once a minute for a process, and returns the present token only if it gets none. Absent: the
        /// caller keeps no token.
        package var holder: TokenHolder?

        package init(
            account: String,
            minimumValiditySec: Int64? = nil,
            scopes: [String]? = nil,
            resources: [String]? = nil,
            audience: String? = nil,
            claims: String? = nil,
            force: Bool? = nil,
            idToken: Bool? = nil,
            host: String? = nil,
            accountId: String? = nil,
            holder: TokenHolder? = nil
        ) {
            self.account = account
            self.minimumValiditySec = minimumValiditySec
            self.scopes = scopes
            self.resources = resources
            self.audience = audience
            self.claims = claims
            self.force = force
            self.idToken = idToken
            self.host = host
            self.accountId = accountId
            self.holder = holder
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The access token itself.
        package var accessToken: String
        /// "token_type" of RFC 6749 section 7.1, for the Authorization header: "Bearer" or "DPoP". With "DPoP", each
        /// request needs a proof (ProvePossession).
        package var tokenType: String
        /// When the access token expires, µs since 1970.
        package var expiresAtUSec: Int64
        /// The scopes of the token. Absent: the call asked for the account's default token, or neither the caller nor
        /// the server named scopes.
        package var scopes: [String]?
        /// The ID token. Absent: it was not asked for.
        package var idToken: IdToken?
        /// Until when the holder should keep the token, in whole seconds as µs since 1970: 60 s before its end, or a
        /// tenth of what is left, so that no request arrives with an expired token. Absent: the call named no holder.
        package var heldUntilUSec: Int64?

        package init(
            accessToken: String,
            tokenType: String,
            expiresAtUSec: Int64,
            scopes: [String]? = nil,
            idToken: IdToken? = nil,
            heldUntilUSec: Int64? = nil
        ) {
            self.accessToken = accessToken
            self.tokenType = tokenType
            self.expiresAtUSec = expiresAtUSec
            self.scopes = scopes
            self.idToken = idToken
            self.heldUntilUSec = heldUntilUSec
        }
    }
}

/// Makes a DPoP proof (RFC 9449 section 4). It proves that the sender of a request may use the key that the account's
/// tokens are bound to. Each proof is good for one request, and only for a moment. If the account has no such key, the
/// call fails with InvalidSettings.
package enum ProvePossession {
    package struct Parameters: CallParameters {
        package typealias Reply = ProvePossession.Reply
        package static var method: Method { .provePossession }

        /// The account's local name.
        package var account: String
        /// The request's method, as it is sent: "GET".
        package var method: String
        /// The request's URL, https or on loopback. The query is not part of the proof.
        package var url: String
        /// The access token that is sent with the request. Absent: none is sent.
        package var accessToken: String?
        /// The value of the server's last "DPoP-Nonce" header. Absent: there was none.
        package var nonce: String?

        package init(account: String, method: String, url: String, accessToken: String? = nil, nonce: String? = nil) {
            self.account = account
            self.method = method
            self.url = url
            self.accessToken = accessToken
            self.nonce = nonce
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The value of the request's "DPoP" header.
        package var proof: String

        package init(proof: String) {
            self.proof = proof
        }
    }
}

/// Reports that a resource server refused the access token. The daemon then replaces the token. Name the token in the
/// call: it is replaced only if the account still has it. If the call does not name it, the daemon keeps a token that
/// it requested less than a second ago, because another caller's report has probably brought that one. If it is refused
/// as well, report it again. A challenge may ask for more. If it asks for claims, the daemon refreshes with these
/// claims. If it asks for another sign-in or more scopes, the call fails with InteractionRequired, and the next
/// StartSignIn asks for them by itself. Until then the account is interaction-required, but the daemon still hands out
/// its tokens.
package enum ReportRejected {
    package struct Parameters: CallParameters {
        package typealias Reply = ReportRejected.Reply
        package static var method: Method { .reportRejected }

        /// The account's local name.
        package var account: String
        /// With scopes, resources, audience or claims as in AcquireToken: the token of that set. Absent: the account's
        /// default token.
        package var scopes: [String]?
        /// As with scopes. Absent: none were named.
        package var resources: [String]?
        /// As with scopes. Absent: none was named.
        package var audience: String?
        /// As with scopes. Absent: none were named.
        package var claims: String?
        /// The value of the answer's WWW-Authenticate field (RFC 6750 section 3, RFC 9470 section 3, Entra's claims
        /// challenges), at most 16 KiB. If it cannot be understood, the call fails with InvalidSettings. Absent:
        /// another token is enough.
        package var challenge: String?
        /// The token that was refused. Absent: the token that the account has.
        package var accessToken: String?
        /// As in AcquireToken: the identifier that the account must have. Absent: any account of this name.
        package var accountId: String?

        package init(
            account: String,
            scopes: [String]? = nil,
            resources: [String]? = nil,
            audience: String? = nil,
            claims: String? = nil,
            challenge: String? = nil,
            accessToken: String? = nil,
            accountId: String? = nil
        ) {
            self.account = account
            self.scopes = scopes
            self.resources = resources
            self.audience = audience
            self.claims = claims
            self.challenge = challenge
            self.accessToken = accessToken
            self.accountId = accountId
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account's state after the attempt.
        package var status: AccountStatus
        /// Whether the account still had accessToken when it was reported. Absent: the call named no token.
        package var known: Bool?

        package init(status: AccountStatus, known: Bool? = nil) {
            self.status = status
            self.known = known
        }
    }
}

/// Refreshes an account now, and waits for the result. The daemon asks the server once a second at most. Calls within
/// that second wait for the rest of it, and then one request answers all of them. This call also cancels a pending
/// step-up (ReportRejected).
package enum Refresh {
    package struct Parameters: CallParameters {
        package typealias Reply = Refresh.Reply
        package static var method: Method { .refresh }

        /// The account's local name.
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account's state after the attempt.
        package var status: AccountStatus

        package init(status: AccountStatus) {
            self.status = status
        }
    }
}

/// Follows accounts (call with "more"). The daemon first sends their present state, in pages. Then it sends "ready",
/// and then every change in order. If the present state of an account was already sent, its changes are sent at once,
/// even before "ready". No change is left out: a subscriber that reads too slowly gets SubscriberFellBehind in place of
/// the next change, and can subscribe again. Otherwise the call continues until one side closes the connection.
package enum Subscribe {
    package struct Parameters: CallParameters {
        package typealias Reply = Subscribe.Reply
        package static var method: Method { .subscribe }

        /// The accounts to follow, even if they are renamed. Absent: all accounts, including those added later.
        package var accounts: [String]?

        package init(accounts: [String]? = nil) {
            self.accounts = accounts
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// present, ready, account-added, account-updated, account-renamed, account-removed, grant-imported,
        /// refresh-started, token-refreshed, token-set-refreshed, token-set-failed, refresh-failed, misconfigured,
        /// interaction-required, refresh-token-expiring, sign-out-near, sign-in-started, sign-in-failed, signed-in,
        /// signed-out, client-secret-ending, account-parked, account-resumed.
        package var event: String
        /// When it happened, µs since 1970.
        package var atUSec: Int64
        /// The states of the accounts after the change. Empty with ready and account-removed.
        package var accounts: [AccountStatus]
        /// The account that changed. Absent: the event is present or ready.
        package var account: String?
        /// The account's previous name. Absent: the event is not account-renamed.
        package var previousName: String?

        package init(
            event: String,
            atUSec: Int64,
            accounts: [AccountStatus],
            account: String? = nil,
            previousName: String? = nil
        ) {
            self.event = event
            self.atUSec = atUSec
            self.accounts = accounts
            self.account = account
            self.previousName = previousName
        }
    }
}

/// Signs a person in (call with "more"), and reports each step until the sign-in is over. Each account has one sign-in
/// at a time. A second call follows the sign-in that is under way, from its beginning, unless it has "restart". If a
/// caller leaves, the sign-in continues; CancelSignIn ends it. The daemon does not open a browser: the caller shows
/// "url" to the person, or opens it. While the store cannot be written, a sign-in for tokens fails with
/// StoreUnavailable.
package enum StartSignIn {
    package struct Parameters: CallParameters {
        package typealias Reply = StartSignIn.Reply
        package static var method: Method { .startSignIn }

        /// The account's local name.
        package var account: String
        /// How the answer comes back: browser (the server sends the browser to a port on loopback that the daemon
        /// listens on; a pasted address is accepted, too), paste (the person pastes the address that the browser ends
        /// on), scheme (the desktop hands the address to "authctl callback" by its URI scheme) or device (RFC 8628: the
        /// person types a code on any device). Absent: browser; scheme or paste if the client is registered for that,
        /// or the provider accepts no loopback address.
        package var flow: String?
        /// Cancel the sign-in that is under way, and begin a new one. Absent: false.
        package var restart: Bool?
        /// Accept the grant even if another person signed in than the account is for, or if the server does not say
        /// who. Absent: false.
        package var replace: Bool?
        /// "prompt" of OpenID Connect Core section 3.1.2.1: login, consent, select_account, create. Absent: the server
        /// decides.
        package var prompt: String?
        /// "login_hint" of the same section: which person the server should suggest. Absent: none.
        package var loginHint: String?
        /// "acr_values" of the same section: how strongly the person must be authenticated, in order of preference.
        /// Absent: the server decides.
        package var acrValues: [String]?
        /// "max_age" of the same section: how long ago the person may have authenticated, in seconds. Absent: the
        /// server decides.
        package var maxAgeSec: Int64?
        /// Scopes of the grant, instead of the account's own. Absent or empty: the account's.
        package var scopes: [String]?
        /// "claims" of OpenID Connect Core section 5.5: a JSON object. Absent: none.
        package var claims: String?
        /// "response_type": code, "code id_token" or id_token. With "code id_token", the ID token comes with the code,
        /// and the daemon checks its c_hash before it sends the code. With id_token, the server says only who signed
        /// in: the last reply has the ID token, and the account's tokens stay as they are. Only allowed callers may ask
        /// for id_token. Not with the flow device. Absent: code.
        package var responseType: String?
        /// "nonce" of the same section, for a program that made the nonce and compares it with the ID token's. The
        /// answer must then have an ID token. Not with the flow device. Absent: the daemon makes one if there will be
        /// an ID token.
        package var nonce: String?
        /// Send the SHA-256 of nonce instead of nonce, in lower-case hexadecimal digits, as applications for Apple's
        /// sign-in do. Absent: false.
        package var hashesNonce: Bool?
        /// The policy to run at the server instead of the account's own: a value for the policyVariable of the provider
        /// profile. The last event is then policy-completed, without tokens, because a grant of another policy would be
        /// good for that policy only. Absent: the account's policy.
        package var policy: String?
        /// Sign another person in, to a new account of this name. It gets the settings, the client and the secrets of
        /// "account", but not its tokenFile, urls and username, and its own DPoP key. The daemon adds it together with
        /// its tokens, when the sign-in has completed. Not together with policy. The server asks the person which
        /// account to use ("select_account"), unless its metadata says that it cannot, or the call has prompt or
        /// loginHint. Absent: "account" is signed in.
        package var newAccount: String?

        package init(
            account: String,
            flow: String? = nil,
            restart: Bool? = nil,
            replace: Bool? = nil,
            prompt: String? = nil,
            loginHint: String? = nil,
            acrValues: [String]? = nil,
            maxAgeSec: Int64? = nil,
            scopes: [String]? = nil,
            claims: String? = nil,
            responseType: String? = nil,
            nonce: String? = nil,
            hashesNonce: Bool? = nil,
            policy: String? = nil,
            newAccount: String? = nil
        ) {
            self.account = account
            self.flow = flow
            self.restart = restart
            self.replace = replace
            self.prompt = prompt
            self.loginHint = loginHint
            self.acrValues = acrValues
            self.maxAgeSec = maxAgeSec
            self.scopes = scopes
            self.claims = claims
            self.responseType = responseType
            self.nonce = nonce
            self.hashesNonce = hashesNonce
            self.policy = policy
            self.newAccount = newAccount
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// started, opened (a caller said that the browser is open), password-reset (the person has forgotten the
        /// password, and continues with the policy that resets it), sign-in-again (the password is reset, and the
        /// person continues with the sign-in), callback-received, exchanging. The last event is completed, or
        /// policy-completed (another policy is done, and the account is as it was).
        package var event: String
        /// The identifier of the sign-in for ContinueSignIn and CancelSignIn: 22 characters of base64url. It is not the
        /// "state" of OAuth.
        package var attempt: String
        /// The flow, as the caller asked for it or the daemon chose it.
        package var flow: String
        /// When it happened, µs since 1970.
        package var atUSec: Int64
        /// When the sign-in times out, µs since 1970.
        package var expiresAtUSec: Int64
        /// The address to open in a browser. With the flow device, it is the address where the person types the code.
        /// Absent: the event is not started, password-reset or sign-in-again; or the browser that brought the answer
        /// goes there by itself.
        package var url: String?
        /// The host that the browser will show. Absent: as with url.
        package var host: String?
        /// Where the server sends the browser back to. Absent: the event has no url, or the flow is device.
        package var redirectUri: String?
        /// redirectUri as the client is registered with it: without the port if the account fixes none, because it is
        /// another one each time. Absent: as with redirectUri.
        package var registeredUri: String?
        /// Whether registeredUri is one that the daemon made, and nobody has signed in with it yet, so the person
        /// should register it with the client before the browser opens. Absent: no, or the person was told before.
        package var awaitsRegistration: Bool?
        /// Whether the server registered the client for the account (RFC 7591). Absent: a person did, or the event has
        /// no url.
        package var selfRegistered: Bool?
        /// Whether the server has just registered another client for the account, because it had forgotten the one
        /// before. Absent: it has not, or the event has no url.
        package var clientReplaced: Bool?
        /// Whether another caller began the sign-in. Absent: this caller did, or the event is not started.
        package var joined: Bool?
        /// The browser to open url in: the account's loginBrowser. Never start anything else by this text than a known
        /// browser or the desktop entry of a browser. Absent: the account names none, or the event has no url.
        package var browser: String?
        /// The kind of window to open url in: the account's loginWindow. Absent: an ordinary one, or the event has no
        /// url.
        package var window: String?
        /// Whether the account's loginBrowser is a path or a command, as earlier versions stored it. It is not started.
        /// Absent: it is not.
        package var browserRefused: Bool?
        /// Whether the provider's profile names the scheme of redirectUri. If not, only the account's settings name it,
        /// which every program can write, so the desktop must not hand such addresses to another application than
        /// before. Absent: it does not, or the flow is not scheme.
        package var schemeFromProfile: Bool?
        /// The policy that runs at the server. Absent: it is the account's own, or the event has no policy.
        package var policy: String?
        /// The code that the person types. Absent: the event is not started, or the flow is not device.
        package var userCode: String?
        /// url with the code in it, for a QR code. Absent: as with userCode, or the server gave none.
        package var verificationUriComplete: String?
        /// The account's state. Absent: the event is not completed.
        package var status: AccountStatus?
        /// Whether the account keeps its previous refresh token, because the server gave none. That token may still
        /// work. Absent: the server gave one, or the account had none.
        package var refreshTokenKept: Bool?
        /// The ID token. Absent: the event is not completed, or responseType is not id_token.
        package var idToken: IdToken?
        /// Another account of the same client to which the same person has signed in. Absent: no account was added, or
        /// there is no such account.
        package var samePersonAs: String?
        /// Scopes beyond the account's own that the server is asked for because a resource server demanded them
        /// (ReportRejected). Any program can report such a demand, so name them to the person before the browser opens.
        /// Absent: none, or the event has no url.
        package var demandedScopes: [String]?
        /// The SASL mechanisms by which mail servers take the account's token, the best first: oauthbearer, xoauth2.
        /// Empty: the account is not for mail. Absent: it is not known, or the event is not completed.
        package var mailMechanisms: [String]?

        package init(
            event: String,
            attempt: String,
            flow: String,
            atUSec: Int64,
            expiresAtUSec: Int64,
            url: String? = nil,
            host: String? = nil,
            redirectUri: String? = nil,
            registeredUri: String? = nil,
            awaitsRegistration: Bool? = nil,
            selfRegistered: Bool? = nil,
            clientReplaced: Bool? = nil,
            joined: Bool? = nil,
            browser: String? = nil,
            window: String? = nil,
            browserRefused: Bool? = nil,
            schemeFromProfile: Bool? = nil,
            policy: String? = nil,
            userCode: String? = nil,
            verificationUriComplete: String? = nil,
            status: AccountStatus? = nil,
            refreshTokenKept: Bool? = nil,
            idToken: IdToken? = nil,
            samePersonAs: String? = nil,
            demandedScopes: [String]? = nil,
            mailMechanisms: [String]? = nil
        ) {
            self.event = event
            self.attempt = attempt
            self.flow = flow
            self.atUSec = atUSec
            self.expiresAtUSec = expiresAtUSec
            self.url = url
            self.host = host
            self.redirectUri = redirectUri
            self.registeredUri = registeredUri
            self.awaitsRegistration = awaitsRegistration
            self.selfRegistered = selfRegistered
            self.clientReplaced = clientReplaced
            self.joined = joined
            self.browser = browser
            self.window = window
            self.browserRefused = browserRefused
            self.schemeFromProfile = schemeFromProfile
            self.policy = policy
            self.userCode = userCode
            self.verificationUriComplete = verificationUriComplete
            self.status = status
            self.refreshTokenKept = refreshTokenKept
            self.idToken = idToken
            self.samePersonAs = samePersonAs
            self.demandedScopes = demandedScopes
            self.mailMechanisms = mailMechanisms
        }
    }
}

/// Passes the browser's last address to the sign-in or web session that it belongs to, or says that the browser was
/// opened. The callers of StartSignIn and StartWebSession get the result. If the text is not an answer of the server,
/// the call fails with InvalidSettings, and the sign-in continues.
package enum ContinueSignIn {
    package struct Parameters: CallParameters {
        package typealias Reply = ContinueSignIn.Reply
        package static var method: Method { .continueSignIn }

        /// "attempt" as StartSignIn or StartWebSession returned it. Absent: the daemon finds the sign-in by the "state"
        /// in the redirect, or else the web session by the address.
        package var attempt: String?
        /// The whole address that the browser ended on, or "code#state" as some pages show it, or the code alone.
        /// Absent: there is no answer.
        package var redirect: String?
        /// Whether the browser was opened. Absent: not said.
        package var opened: Bool?

        package init(attempt: String? = nil, redirect: String? = nil, opened: Bool? = nil) {
            self.attempt = attempt
            self.redirect = redirect
            self.opened = opened
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account that is being signed in. Empty: the address belongs to a web session.
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }
}

/// Ends a sign-in that is under way. Its callers get SignInCancelled. If the server still gives tokens, the daemon
/// discards them.
package enum CancelSignIn {
    package struct Parameters: CallParameters {
        package typealias Reply = CancelSignIn.Reply
        package static var method: Method { .cancelSignIn }

        /// The account's local name. Absent: the call names the attempt.
        package var account: String?
        /// "attempt" as StartSignIn returned it. Absent: the call names the account.
        package var attempt: String?

        package init(account: String? = nil, attempt: String? = nil) {
            self.account = account
            self.attempt = attempt
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The account that was being signed in.
        package var account: String

        package init(account: String) {
            self.account = account
        }
    }
}

/// Waits for one callback (call with "more" only). It is for a program that opens a page in a browser and waits until
/// the server sends the browser back. The daemon checks only that the address is the callback's, and returns the whole
/// address. The caller must check "state" and PKCE. The session has no account, and ends with the caller's connection.
package enum StartWebSession {
    package struct Parameters: CallParameters {
        package typealias Reply = StartWebSession.Reply
        package static var method: Method { .startWebSession }

        /// Where the server sends the browser back to, without a query or a fragment. It is one of: a loopback address
        /// ("http://127.0.0.1/done", "http://localhost/done" or "http://[::1]/done"), with a port or without; a URI
        /// with a private-use scheme ("com.example.app:/done"), or such a scheme alone ("exampleauth") for all its
        /// addresses; a page of the caller's own ("https://app.example/done"), whose address ContinueSignIn passes on.
        /// Each callback has one session at a time.
        package var callback: String
        /// How long the session waits, in seconds, 1 to 3600. Absent: 600.
        package var timeoutSec: Int64?

        package init(callback: String, timeoutSec: Int64? = nil) {
            self.callback = callback
            self.timeoutSec = timeoutSec
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// started or completed. completed is the last event.
        package var event: String
        /// The identifier of this session for ContinueSignIn.
        package var attempt: String
        /// When it happened, µs since 1970.
        package var atUSec: Int64
        /// When the session times out, µs since 1970.
        package var expiresAtUSec: Int64
        /// The callback to send the browser to. It has the port that the daemon listens on.
        package var callback: String
        /// The whole address that the browser came back to. A form is added to its query. It may contain secrets.
        /// Absent: the event is started.
        package var url: String?

        package init(
            event: String,
            attempt: String,
            atUSec: Int64,
            expiresAtUSec: Int64,
            callback: String,
            url: String? = nil
        ) {
            self.event = event
            self.attempt = attempt
            self.atUSec = atUSec
            self.expiresAtUSec = expiresAtUSec
            self.callback = callback
            self.url = url
        }
    }
}

/// Lets the caller ask the user on the daemon's behalf, for accounts with "confirm" (call with "more" only). The caller
/// gets each question, shows it, and sends the answer with AnswerConfirmation. The call continues until one side closes
/// the connection. While no program makes this call, the daemon gives out no token of such accounts.
package enum ServeConfirmations {
    package struct Parameters: CallParameters {
        package typealias Reply = ServeConfirmations.Reply
        package static var method: Method { .serveConfirmations }

        package init() {}
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// ready: all questions that were open have been sent. asked: ask the user. withdrawn: nobody waits for the
        /// answer any more.
        package var event: String
        /// The identifier of the question. Absent: the event is ready.
        package var question: String?
        /// The account that it is about. Absent: the event is not asked.
        package var account: String?
        /// What a program wants: token (the account's tokens, or proofs for them), export (the grant and all secrets of
        /// the client), change (of the account's settings), remove (the account) or derive (another account, which gets
        /// its tokens with those of this one). The daemon does not say which program, because it cannot tell them
        /// apart. Absent: the event is not asked.
        package var request: String?
        /// The fields of UpdateAccount that the program wants to change, or "name". Absent: the request is not change.
        package var settings: [String]?
        /// The name of the other account. Absent: the request is not derive.
        package var derivedAccount: String?
        /// Where the program runs, as AcquireToken named it. Absent: this machine.
        package var host: String?
        /// When the daemon withdraws the question if nobody has answered, µs since 1970. Absent: the event is not
        /// asked.
        package var untilUSec: Int64?

        package init(
            event: String,
            question: String? = nil,
            account: String? = nil,
            request: String? = nil,
            settings: [String]? = nil,
            derivedAccount: String? = nil,
            host: String? = nil,
            untilUSec: Int64? = nil
        ) {
            self.event = event
            self.question = question
            self.account = account
            self.request = request
            self.settings = settings
            self.derivedAccount = derivedAccount
            self.host = host
            self.untilUSec = untilUSec
        }
    }
}

/// Sends the user's answer to a question of ServeConfirmations. It applies to what the question said, and to nothing
/// else.
package enum AnswerConfirmation {
    package struct Parameters: CallParameters {
        package typealias Reply = AnswerConfirmation.Reply
        package static var method: Method { .answerConfirmation }

        /// "question" as ServeConfirmations returned it.
        package var question: String
        /// allow-once (one call), allow-for-an-hour (the account's tokens are open to all programs of the user's
        /// session, or of that host, for an hour; for any other request it counts as allow-once) or deny (the same
        /// question is not asked for a minute).
        package var answer: String

        package init(question: String, answer: String) {
            self.question = question
            self.answer = answer
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// Whether a caller still waited for the answer.
        package var taken: Bool

        package init(taken: Bool) {
            self.taken = taken
        }
    }
}

/// Signs an account out. The daemon first does what else the call asks for, and then erases the tokens. The steps have
/// the order of SignOutStep. If one fails, the next ones are done nevertheless. There is one exception: if the account
/// gets a new grant meanwhile, the daemon keeps the grant and the account.
package enum SignOut {
    package struct Parameters: CallParameters {
        package typealias Reply = SignOut.Reply
        package static var method: Method { .signOut }

        /// The account's local name.
        package var account: String
        /// Revoke the tokens at the server first (RFC 7009). Absent: false.
        package var revoke: Bool?
        /// Do all this even if the account is parked. If another machine uses the grant, it loses it. Without it, the
        /// call fails with AccountParked if it would revoke the tokens or delete the client of a parked account.
        /// Absent: false.
        package var revokeParked: Bool?
        /// Return the address at which a browser ends the person's session at the server (OpenID Connect RP-Initiated
        /// Logout). Only allowed callers may ask for it, because the address contains the ID token. Absent: false.
        package var endSession: Bool?
        /// Delete the client that AddAccount registered at the server, and then remove the account. Absent: false.
        package var forget: Bool?

        package init(
            account: String,
            revoke: Bool? = nil,
            revokeParked: Bool? = nil,
            endSession: Bool? = nil,
            forget: Bool? = nil
        ) {
            self.account = account
            self.revoke = revoke
            self.revokeParked = revokeParked
            self.endSession = endSession
            self.forget = forget
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// One for each step of this call, in the order in which they were done.
        package var steps: [SignOutStep]
        /// The address to open in the browser. It contains the ID token, so show it to the account's owner only.
        /// Absent: the call did not ask for it, or the step failed.
        package var endSessionUrl: String?
        /// The host that the browser will show. Absent: as with endSessionUrl.
        package var endSessionHost: String?

        package init(steps: [SignOutStep], endSessionUrl: String? = nil, endSessionHost: String? = nil) {
            self.steps = steps
            self.endSessionUrl = endSessionUrl
            self.endSessionHost = endSessionHost
        }
    }
}

/// Copies the store while the daemon works, and checks the copy. The same key opens the copy. The daemon makes one copy
/// at a time, and other callers wait. The call is refused while a change of the store's key makes progress. If such a
/// change begins, it ends the call.
package enum BackupStore {
    package struct Parameters: CallParameters {
        package typealias Reply = BackupStore.Reply
        package static var method: Method { .backupStore }

        package init() {}
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The copy, beside the store in the daemon's state folder: accounts.sqlite.outgoing-NUMBER, mode 0600. The
        /// caller must open it at once and copy it to its destination. The daemon removes the file after 30 s. It
        /// removes it earlier if more than four copies were not fetched, if the key is changed, or if the daemon stops.
        package var path: String
        /// The names of all keys that are needed to open the copy. There are several if a change of the key was
        /// interrupted. Absent: the store's one key is enough.
        package var keys: [String]?

        package init(path: String, keys: [String]? = nil) {
            self.path = path
            self.keys = keys
        }
    }
}

/// Returns the installed provider profiles, in the order of their names.
package enum ListProviders {
    package struct Parameters: CallParameters {
        package typealias Reply = ListProviders.Reply
        package static var method: Method { .listProviders }

        package init() {}
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// One for each profile.
        package var providers: [ProviderDescription]

        package init(providers: [ProviderDescription]) {
            self.providers = providers
        }
    }
}

/// Makes a provider profile, a file for providers.d, from the metadata that a server publishes (OpenID Connect
/// Discovery, RFC 8414). The daemon uses no account or token, and stores nothing.
package enum DiscoverProvider {
    package struct Parameters: CallParameters {
        package typealias Reply = DiscoverProvider.Reply
        package static var method: Method { .discoverProvider }

        /// The issuer's URL, or another URL of its host.
        package var url: String
        /// The name of the profile: letters, digits and "._-", 64 at most. Absent: the daemon makes it from the host's
        /// name.
        package var name: String?

        package init(url: String, name: String? = nil) {
            self.url = url
            self.name = name
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The profile, in YAML with comments.
        package var profile: String

        package init(profile: String) {
            self.profile = profile
        }
    }
}

/// Checks the server of an account before the account is added: it fetches the server's metadata (RFC 8414, OpenID
/// Connect Discovery). The daemon sends no token and changes no account. It refuses invalid settings as AddAccount
/// does.
package enum CheckServer {
    package struct Parameters: CallParameters {
        package typealias Reply = CheckServer.Reply
        package static var method: Method { .checkServer }

        /// As in AccountSettings. Absent: the provider profile's.
        package var issuer: String?
        /// As in AccountSettings. Absent: none is named.
        package var provider: String?
        /// As in AccountSettings. Absent: what the profile says.
        package var variables: [String: String]?
        /// As in AccountSettings. Absent: nothing.
        package var providerSettings: [String: String]?

        package init(
            issuer: String? = nil,
            provider: String? = nil,
            variables: [String: String]? = nil,
            providerSettings: [String: String]? = nil
        ) {
            self.issuer = issuer
            self.provider = provider
            self.variables = variables
            self.providerSettings = providerSettings
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The issuer that the account would have.
        package var issuer: String
        /// The provider profile that the account would use. Absent: there is none for this issuer.
        package var provider: String?
        /// Why the server could not be reached, in one sentence. Absent: it was reached, or the profile names all
        /// endpoints.
        package var unreachable: String?
        /// Why this issuer is wrong, in one sentence. Absent: it is not.
        package var contradiction: String?
        /// The issuer that the server's metadata names. Absent: there is no contradiction, or the metadata names none.
        package var otherIssuer: String?
        /// A provider profile for servers of that host. Absent: there is no contradiction, or no such profile.
        package var otherProvider: String?
        /// The variables for AddAccount, if the server had to be asked for one: the id of an Entra tenant that was
        /// named by its domain. Absent: none had to be looked up, or it was not found.
        package var variables: [String: String]?
        /// Whether the server's metadata offers the scope offline_access, which many servers want for a refresh token.
        /// Absent: it does not, or the server was not reached.
        package var offlineAccess: Bool?

        package init(
            issuer: String,
            provider: String? = nil,
            unreachable: String? = nil,
            contradiction: String? = nil,
            otherIssuer: String? = nil,
            otherProvider: String? = nil,
            variables: [String: String]? = nil,
            offlineAccess: Bool? = nil
        ) {
            self.issuer = issuer
            self.provider = provider
            self.unreachable = unreachable
            self.contradiction = contradiction
            self.otherIssuer = otherIssuer
            self.otherProvider = otherProvider
            self.variables = variables
            self.offlineAccess = offlineAccess
        }
    }
}

/// Reads the metadata of a protected resource (RFC 9728): whose tokens it accepts. The call names the resource by its
/// URL, or by the challenge with which it refused an account's token. The daemon asks only the host of that URL, or of
/// the address in the challenge. It sends no token and changes no account.
package enum DiscoverResource {
    package struct Parameters: CallParameters {
        package typealias Reply = DiscoverResource.Reply
        package static var method: Method { .discoverResource }

        /// The resource's URL: https, or http on a loopback address. The daemon asks it without a token, and reads its
        /// challenge. Absent: "account" and "challenge" name the resource.
        package var url: String?
        /// The account whose token the resource refused. The address in the challenge may be on this machine only if
        /// the account's issuer is. Absent: "url" names the resource.
        package var account: String?
        /// The value of the answer's WWW-Authenticate field, with "resource_metadata", at most 16 KiB. Absent: "url"
        /// names the resource.
        package var challenge: String?

        package init(url: String? = nil, account: String? = nil, challenge: String? = nil) {
            self.url = url
            self.account = account
            self.challenge = challenge
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// "resource", for requests for tokens (RFC 8707). It is the URL of the call or above it on the same host.
        package var resource: String
        /// "authorization_servers": the issuers of its tokens, 1 to 32.
        package var issuers: [String]
        /// The scopes that its challenge asks for; without any, "scopes_supported". Absent: it names none.
        package var scopes: [String]?
        /// Whether it accepts only tokens that are bound to a key ("dpop" of AccountSettings). Absent: it accepts
        /// others.
        package var dpop: Bool?

        package init(resource: String, issuers: [String], scopes: [String]? = nil, dpop: Bool? = nil) {
            self.resource = resource
            self.issuers = issuers
            self.scopes = scopes
            self.dpop = dpop
        }
    }
}

/// Encrypts all secrets with a new key while the daemon works, and destroys the old key. The work continues if the
/// caller leaves, and after a restart of the daemon. A second caller follows the same work. With "more", the daemon
/// reports the progress once a second. The last reply has the result.
package enum RekeyStore {
    package struct Parameters: CallParameters {
        package typealias Reply = RekeyStore.Reply
        package static var method: Method { .rekeyStore }

        package init() {}
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// How many accounts are encrypted with the new key.
        package var accounts: Int64
        /// How many accounts there are.
        package var total: Int64
        /// How many secrets no key can decrypt. They were damaged before, and stay as they are.
        package var unreadable: Int64
        /// The new key's name, 16 hexadecimal digits that reveal nothing about the key. Absent: the change is under
        /// way.
        package var key: String?
        /// Where the new key is kept: credential, next-credential, secret-service or file. Absent: the change is under
        /// way.
        package var place: String?
        /// Why the old key is not destroyed yet. The daemon tries again when it is restarted. Absent: the old key is
        /// destroyed, or the change is under way.
        package var leftover: String?

        package init(
            accounts: Int64,
            total: Int64,
            unreadable: Int64,
            key: String? = nil,
            place: String? = nil,
            leftover: String? = nil
        ) {
            self.accounts = accounts
            self.total = total
            self.unreadable = unreadable
            self.key = key
            self.place = place
            self.leftover = leftover
        }
    }
}

/// Checks the whole store while the daemon works: the file, each row, each encrypted value, the schedule, the key. For
/// this, the daemon makes a copy of the encrypted store beside it, and removes the copy afterwards. The check continues
/// if the caller leaves. A second caller follows the same check. With "more", the daemon reports progress and findings
/// once a second. Without it, one reply has everything.
package enum CheckStore {
    package struct Parameters: CallParameters {
        package typealias Reply = CheckStore.Reply
        package static var method: Method { .checkStore }

        package init() {}
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// How many accounts have been checked.
        package var accounts: Int64
        /// How many accounts there are.
        package var total: Int64
        /// How many findings there are. This may be more than the replies contain. 0 in the last reply: the store is
        /// sound.
        package var found: Int64
        /// The findings since the previous reply. All replies together contain 1000 at most.
        package var findings: [StoreFinding]

        package init(accounts: Int64, total: Int64, found: Int64, findings: [StoreFinding]) {
            self.accounts = accounts
            self.total = total
            self.found = found
            self.findings = findings
        }
    }
}

/// Checks everything that refreshes depend on: the configuration, clocks, the network, the store and its key, accounts
/// and their tokens, and the authorization servers (name resolution, TLS, metadata; no token is sent). With "more",
/// each finding comes at once in a separate reply, and a reply without findings ends the call. Without it, one reply
/// has all of them. The daemon checks the first 10,000 accounts in the order of their names, and the first 64 of their
/// servers. A finding says so if there are more.
package enum Diagnose {
    package struct Parameters: CallParameters {
        package typealias Reply = Diagnose.Reply
        package static var method: Method { .diagnose }

        /// The accounts to check, with their servers. Absent: all.
        package var accounts: [String]?

        package init(accounts: [String]? = nil) {
            self.accounts = accounts
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        /// The findings, in the order of the checks. Empty: this is the last reply of several.
        package var findings: [Finding]

        package init(findings: [Finding]) {
            self.findings = findings
        }
    }
}
