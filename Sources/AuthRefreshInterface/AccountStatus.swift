/// Where one account stands. The fields are described in `io.authrefresh.varlink`.
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
    package var clientSecretExpiresAtUSec: Int64?
    package var clockSkewSec: Int64?
    package var grantType: String?
    package var failures: Int64
    package var reason: String?
    package var sinceUSec: Int64?
    package var failure: Failure?
    package var hint: String?
    package var tokenSets: [TokenSetStatus]?
    package var subject: String?
    package var keptFields: [String: String]?

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
        failures: Int64,
        reason: String? = nil,
        sinceUSec: Int64? = nil,
        failure: Failure? = nil,
        hint: String? = nil,
        tokenSets: [TokenSetStatus]? = nil,
        subject: String? = nil,
        keptFields: [String: String]? = nil
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
        self.failures = failures
        self.reason = reason
        self.sinceUSec = sinceUSec
        self.failure = failure
        self.hint = hint
        self.tokenSets = tokenSets
        self.subject = subject
        self.keptFields = keptFields
    }
}
