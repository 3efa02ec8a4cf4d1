/// The wire types of `GetMetrics`.
package enum GetMetrics {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var version: String
        package var atUSec: Int64
        package var startedAtUSec: Int64
        package var online: Bool
        package var states: [String: Int64]
        package var accounts: [AccountExpiry]
        package var requestsSucceeded: Int64
        package var requestsFailed: [String: Int64]
        package var bucketEndsMs: [Int64]
        package var buckets: [Int64]
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

/// When an account's access token expires. The fields are described in `io.authrefresh.varlink`.
package struct AccountExpiry: Codable, Hashable, Sendable {
    package var account: String
    package var state: String
    package var expiresAtUSec: Int64?

    package init(account: String, state: String, expiresAtUSec: Int64? = nil) {
        self.account = account
        self.state = state
        self.expiresAtUSec = expiresAtUSec
    }
}
