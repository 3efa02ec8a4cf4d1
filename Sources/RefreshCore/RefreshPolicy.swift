/// What an account's owner or provider profile says about when to refresh; nil leaves it to the rule.
package struct RefreshPolicy: Hashable, Sendable {
    /// Refresh this long before the access token ends, instead of at 2/3 of its lifetime.
    package var leadTime: Duration?
    /// How long the server still takes a refresh token after it was rotated; nil if unknown (taken as none).
    package var rotationGrace: Duration?
    /// How long a refresh token lives unused, for servers that do not say it in their answers; nil if unknown.
    package var refreshTokenLifetime: Duration?
    /// Whether the client obtains tokens for itself (`ServiceGrant`): nothing is spent by that, and no person could help.
    package var isServiceAccount: Bool

    package init(
        leadTime: Duration? = nil,
        rotationGrace: Duration? = nil,
        refreshTokenLifetime: Duration? = nil,
        isServiceAccount: Bool = false
    ) {
        self.leadTime = leadTime
        self.rotationGrace = rotationGrace
        self.refreshTokenLifetime = refreshTokenLifetime
        self.isServiceAccount = isServiceAccount
    }
}
