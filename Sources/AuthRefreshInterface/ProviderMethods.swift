package import CommandLineProgram

/// The daemon's description of a provider. The fields are described in `io.authrefresh.varlink`, where it is called
/// `ProviderProfile`.
package struct ProviderDescription: Codable, Hashable, Sendable {
    package var name: String
    package var path: String
    package var documentation: String?
    package var clientIdHint: String?
    package var variables: [ProviderVariable]?
    package var issuer: String?
    package var issuerTemplate: String?
    package var issuerAliases: [String]?
    package var tokenEndpoint: String?
    package var refreshEndpoint: String?
    package var refreshWith: String?
    package var refreshGrantType: String?
    package var refreshTokenParameter: String?
    package var refreshMethod: String?
    package var revocationEndpoint: String?
    package var revocationMethod: String?
    package var revocationToken: String?
    package var revocationTokenParameter: String?
    package var revocationFormat: String?
    package var revocationAuthentication: String?
    package var introspectionEndpoint: String?
    package var gitUsername: String?
    package var gitAuthorization: String?
    package var exchangeEndpoint: String?
    package var exchangeGrantType: String?
    package var exchangeTokenParameter: String?
    package var exchangeMethod: String?
    package var authorizationEndpoint: String?
    package var deviceAuthorizationEndpoint: String?
    package var pushedAuthorizationRequestEndpoint: String?
    package var endSessionEndpoint: String?
    package var endSessionRedirectParameter: String?
    package var registrationEndpoint: String?
    package var jwksUri: String?
    package var userinfoEndpoint: String?
    package var bodyFormat: String?
    package var clientAuthentication: String?
    package var clientSecretScheme: String?
    package var assertionAudience: String?
    package var refreshParameters: [String: String]?
    package var revocationParameters: [String: String]?
    package var headers: [String: String]?
    package var correlationHeader: String?
    package var scopeSeparator: String?
    package var tokenPath: [String]?
    package var tokenFields: [String]?
    package var defaultLifetimeSec: Int64?
    package var zeroLifetime: String?
    package var refreshTokenLifetimeSec: Int64?
    package var refreshTokenLifetimeFrom: String?
    package var rotationGraceSec: Int64?
    package var grantEnded: [EndOfGrant]?
    package var caFile: String?
    package var maxConcurrentRefreshes: Int64?
    package var maxRefreshesPerSecond: Double?
    package var validationIntervalSec: Int64?
    package var authorizationParameters: [String: String]?
    package var scopes: [String]?
    package var scopeParameter: String?
    package var pkce: String?
    package var redirects: [String]?
    package var redirectUri: String?
    package var redirectPort: Int64?
    package var redirectScheme: String?
    package var responseMode: String?
    package var codeParameters: [String]?
    package var callbackFields: [String]?
    package var idToken: String?
    package var userinfoSubject: String?
    package var userinfoUsername: String?
    package var policyVariable: String?
    package var policyClaims: [String]?
    package var passwordResetPolicy: String?
    package var passwordResetOn: [String]?
    package var cancelledOn: [String]?
    package var requiredSettings: [String]?
    package var scopesFor: [PurposeScopes]?
    package var sasl: [String]?
    package var notes: [ProviderNote]?

    /// Creates a description with only these two fields.
    package init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}

/// A variable of a provider profile. The fields are described in `io.authrefresh.varlink`.
package struct ProviderVariable: Codable, Hashable, Sendable {
    package var name: String
    package var help: String
    package var `default`: String?
    package var pattern: String?
    package var aliases: [String: String]?

    package init(
        name: String,
        help: String,
        default: String? = nil,
        pattern: String? = nil,
        aliases: [String: String]? = nil
    ) {
        self.name = name
        self.help = help
        self.default = `default`
        self.pattern = pattern
        self.aliases = aliases
    }
}

/// A note about a provider for people. The fields are described in `io.authrefresh.varlink`.
package struct ProviderNote: Codable, Hashable, Sendable {
    package var about: String
    package var text: String

    package init(about: String, text: String) {
        self.about = about
        self.text = text
    }
}

/// The scopes for one purpose. The fields are described in `io.authrefresh.varlink`.
package struct PurposeScopes: Codable, Hashable, Sendable {
    package var purpose: String
    package var scopes: [String]

    package init(purpose: String, scopes: [String]) {
        self.purpose = purpose
        self.scopes = scopes
    }
}

/// `EndOfGrant` of the interface.
package struct EndOfGrant: Codable, Hashable, Sendable {
    package var status: Int64
    package var field: String?
    package var text: String?

    package init(status: Int64, field: String? = nil, text: String? = nil) {
        self.status = status
        self.field = field
        self.text = text
    }
}

/// The wire types of `ListProviders`.
package enum ListProviders {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package init() {}
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var providers: [ProviderDescription]

        package init(providers: [ProviderDescription]) {
            self.providers = providers
        }
    }
}

/// The wire types of `DiscoverProvider`.
package enum DiscoverProvider {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var url: String
        package var name: String?

        package init(url: String, name: String? = nil) {
            self.url = url
            self.name = name
        }
    }

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var profile: String

        package init(profile: String) {
            self.profile = profile
        }
    }
}

/// The wire types of `CheckServer`.
package enum CheckServer {
    /// The parameters.
    package struct Parameters: Codable, Hashable, Sendable {
        package var issuer: String?
        package var provider: String?
        package var variables: [String: String]?
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

    /// The reply.
    package struct Reply: Codable, Hashable, Sendable {
        package var issuer: String
        package var provider: String?
        package var unreachable: String?
        package var contradiction: String?
        package var otherIssuer: String?
        package var otherProvider: String?
        package var variables: [String: String]?

        package init(
            issuer: String,
            provider: String? = nil,
            unreachable: String? = nil,
            contradiction: String? = nil,
            otherIssuer: String? = nil,
            otherProvider: String? = nil,
            variables: [String: String]? = nil
        ) {
            self.issuer = issuer
            self.provider = provider
            self.unreachable = unreachable
            self.contradiction = contradiction
            self.otherIssuer = otherIssuer
            self.otherProvider = otherProvider
            self.variables = variables
        }
    }
}

/// Parameters of `io.authrefresh.ServerUnavailable`.
package struct ServerUnavailableError: InterfaceError {
    package static let name = "io.authrefresh.ServerUnavailable"

    package var url: String
    package var reason: String
    package var hint: String
    package var command: String?

    package init(url: String, reason: String, hint: Hint) {
        self.url = url
        self.reason = reason
        self.hint = hint.text
        self.command = hint.command
    }
}
