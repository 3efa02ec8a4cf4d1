/// What the daemon knows about a provider. The fields are described in `io.authrefresh.varlink`, where it is called
/// `ProviderProfile`.
package struct ProviderDescription: Codable, Hashable, Sendable {
    package var name: String
    package var path: String
    package var documentation: String?
    package var issuer: String?
    package var issuerTemplate: String?
    package var tokenEndpoint: String?
    package var revocationEndpoint: String?
    package var clientAuthentication: String?
    package var refreshParameters: [String: String]?
    package var revocationParameters: [String: String]?
    package var headers: [String: String]?
    package var correlationHeader: String?
    package var scopeSeparator: String?
    package var tokenPath: [String]?
    package var defaultLifetimeSec: Int64?
    package var refreshTokenLifetimeSec: Int64?
    package var rotationGraceSec: Int64?
    package var caFile: String?
    package var maxConcurrentRefreshes: Int64?
    package var maxRefreshesPerSecond: Double?

    /// All but these two are absent at first.
    package init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}

/// The wire types of `ListProviders`.
package enum ListProviders {
    /// What it is called with.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// What it answers.
    package struct Reply: Codable, Hashable, Sendable {
        package var providers: [ProviderDescription]

        package init(providers: [ProviderDescription]) {
            self.providers = providers
        }
    }
}
