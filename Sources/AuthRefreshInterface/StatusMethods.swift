package import CommandLineProgram

/// The wire types of `GetInfo`.
package enum GetInfo {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var version: String
        package var startedAtUSec: Int64
        package var accounts: Int64
        package var interactionRequired: Int64
        package var nextDeadlineUSec: Int64?
        package var online: Bool
        package var trouble: String?
        package var damaged: Int64?
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

/// The wire types of `GetStatus`.
package enum GetStatus {
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
        package var accounts: [AccountStatus]
        package var next: String?

        package init(accounts: [AccountStatus], next: String? = nil) {
            self.accounts = accounts
            self.next = next
        }
    }
}

/// The wire types of `Subscribe`.
package enum Subscribe {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var accounts: [String]?

        package init(accounts: [String]? = nil) {
            self.accounts = accounts
        }
    }

    /// A reply: a page of the present state, the end of it, or news of an account.
    package struct Reply: Codable, Hashable, Sendable {
        /// `present`, `ready` or an `AccountNews`; text, because a later daemon may have other news.
        package var event: String
        package var atUSec: Int64
        package var accounts: [AccountStatus]
        package var account: String?
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

        /// A page of the present state.
        package static func present(_ accounts: [AccountStatus], atUSec: Int64) -> Self {
            Self(event: "present", atUSec: atUSec, accounts: accounts)
        }

        /// The end of the present state.
        package static func ready(atUSec: Int64) -> Self {
            Self(event: "ready", atUSec: atUSec, accounts: [])
        }

        package var isReady: Bool { event == "ready" }
        /// Nil for the present state, and for news that this version does not know.
        package var news: AccountNews? { AccountNews(rawValue: event) }
    }
}

/// The state of an account. The fields are described in `io.authrefresh.varlink`.
package struct AccountStatus: Codable, Hashable, Sendable {
    package var account: String
    package var state: String
    package var issuer: String
    package var generation: Int64
    package var expiresAtUSec: Int64?
    package var expiryBasis: String?
    package var refreshedAtUSec: Int64?
    package var nextAttemptAtUSec: Int64?
    package var refreshTokenExpiresAtUSec: Int64?
    package var grantEndsAtUSec: Int64?
    package var clientSecretExpiresAtUSec: Int64?
    package var clockSkewSec: Int64?
    package var grantType: String?
    package var missingScopes: [String]?
    package var declinedScopes: [String]?
    package var failures: Int64
    package var reason: String?
    package var sinceUSec: Int64?
    package var failure: FailureReport?
    package var hint: String?
    package var command: String?
    package var tokenSets: [TokenSetStatus]?
    package var grantedScopes: [String]?
    package var subject: String?
    package var keptFields: [String: String]?
    package var person: Person?
    package var refreshTokenMissing: String?
    package var signOutAtUSec: Int64?
    package var tokenFile: TokenFileStatus?
    package var accountId: String?

    package init(
        account: String,
        state: String,
        issuer: String,
        generation: Int64,
        expiresAtUSec: Int64? = nil,
        expiryBasis: String? = nil,
        refreshedAtUSec: Int64? = nil,
        nextAttemptAtUSec: Int64? = nil,
        refreshTokenExpiresAtUSec: Int64? = nil,
        clientSecretExpiresAtUSec: Int64? = nil,
        clockSkewSec: Int64? = nil,
        grantType: String? = nil,
        missingScopes: [String]? = nil,
        declinedScopes: [String]? = nil,
        failures: Int64,
        reason: String? = nil,
        sinceUSec: Int64? = nil,
        failure: FailureReport? = nil,
        hint: Hint? = nil,
        tokenSets: [TokenSetStatus]? = nil,
        grantedScopes: [String]? = nil,
        subject: String? = nil,
        keptFields: [String: String]? = nil,
        person: Person? = nil,
        refreshTokenMissing: String? = nil,
        signOutAtUSec: Int64? = nil,
        tokenFile: TokenFileStatus? = nil
    ) {
        self.account = account
        self.state = state
        self.issuer = issuer
        self.generation = generation
        self.expiresAtUSec = expiresAtUSec
        self.expiryBasis = expiryBasis
        self.refreshedAtUSec = refreshedAtUSec
        self.nextAttemptAtUSec = nextAttemptAtUSec
        self.refreshTokenExpiresAtUSec = refreshTokenExpiresAtUSec
        self.clientSecretExpiresAtUSec = clientSecretExpiresAtUSec
        self.clockSkewSec = clockSkewSec
        self.grantType = grantType
        self.missingScopes = missingScopes
        self.declinedScopes = declinedScopes
        self.failures = failures
        self.reason = reason
        self.sinceUSec = sinceUSec
        self.failure = failure
        self.hint = hint?.text
        self.command = hint?.command
        self.tokenSets = tokenSets
        self.grantedScopes = grantedScopes
        self.subject = subject
        self.keptFields = keptFields
        self.person = person
        self.refreshTokenMissing = refreshTokenMissing
        self.signOutAtUSec = signOutAtUSec
        self.tokenFile = tokenFile
    }
}

/// The status of an account's token file. The fields are described in `io.authrefresh.varlink`.
package struct TokenFileStatus: Codable, Hashable, Sendable {
    package var path: String
    package var kind: String
    package var writtenAtUSec: Int64?
    package var trouble: String?

    package init(path: String, kind: String, writtenAtUSec: Int64? = nil, trouble: String? = nil) {
        self.path = path
        self.kind = kind
        self.writtenAtUSec = writtenAtUSec
        self.trouble = trouble
    }
}

/// An authorization server's names for a person. The fields are described in `io.authrefresh.varlink`.
package struct Person: Codable, Hashable, Sendable {
    package var username: String?
    package var email: String?
    package var name: String?
    package var tenant: String?
    package var subject: String?

    package init(
        username: String? = nil,
        email: String? = nil,
        name: String? = nil,
        tenant: String? = nil,
        subject: String? = nil
    ) {
        self.username = username
        self.email = email
        self.name = name
        self.tenant = tenant
        self.subject = subject
    }

    /// The name that identifies the person best; nil if there is none.
    package var best: String? { email ?? username ?? name }

    /// The person's mail address, also if the server tells it only as the name to sign in with (Entra).
    package var mailbox: String? { email ?? username.flatMap { $0.utf8.contains(UInt8(ascii: "@")) ? $0 : nil } }
}

/// A token set of an account, without its token. The fields are described in `io.authrefresh.varlink`.
package struct TokenSetStatus: Codable, Hashable, Sendable {
    package var scopes: [String]?
    package var resources: [String]?
    package var audience: String?
    package var claims: String?
    package var expiresAtUSec: Int64

    package init(
        scopes: [String]? = nil,
        resources: [String]? = nil,
        audience: String? = nil,
        claims: String? = nil,
        expiresAtUSec: Int64
    ) {
        self.scopes = scopes
        self.resources = resources
        self.audience = audience
        self.claims = claims
        self.expiresAtUSec = expiresAtUSec
    }
}

/// The details of a failed refresh. The fields are described in `io.authrefresh.varlink`.
package struct FailureReport: Codable, Hashable, Sendable {
    package var summary: String
    package var httpStatus: Int64?
    package var oauthError: String?
    package var oauthErrorDescription: String?
    package var subError: String?
    package var providerCode: String?
    package var correlationId: String?
    package var workedUntilUSec: Int64?

    package init(
        summary: String,
        httpStatus: Int64? = nil,
        oauthError: String? = nil,
        oauthErrorDescription: String? = nil,
        subError: String? = nil,
        providerCode: String? = nil,
        correlationId: String? = nil,
        workedUntilUSec: Int64? = nil
    ) {
        self.summary = summary
        self.httpStatus = httpStatus
        self.oauthError = oauthError
        self.oauthErrorDescription = oauthErrorDescription
        self.subError = subError
        self.providerCode = providerCode
        self.correlationId = correlationId
        self.workedUntilUSec = workedUntilUSec
    }
}
