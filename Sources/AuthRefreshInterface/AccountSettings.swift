/// What an account is made of, without its secrets. The fields are described in `io.authrefresh.varlink`.
package struct AccountSettings: Codable, Hashable, Sendable {
    package var name: String
    package var issuer: String?
    package var provider: String?
    package var variables: [String: String]?
    package var providerSettings: [String: String]?
    package var clientId: String
    package var clientAuthentication: String?
    package var clientKeyId: String?
    package var teamId: String?
    package var dpop: Bool?
    package var grantType: String?
    package var assertionSubject: String?
    package var assertionAudience: String?
    package var assertionLifetimeSec: Int64?
    package var subjectAccount: String?
    package var subjectTokenType: String?
    package var actorAccount: String?
    package var actorTokenType: String?
    package var requestedTokenType: String?
    package var scopes: [String]?
    package var refreshParameters: [String: String]?
    package var authorizationParameters: [String: String]?
    package var authorizationDetails: String?
    package var redirectUri: String?
    package var redirectPort: Int64?
    package var redirectScheme: String?
    package var postLogoutRedirectUri: String?
    package var leadTimeSec: Int64?
    package var rotationGraceSec: Int64?
    package var refreshTokenLifetimeSec: Int64?
    package var allowedUnits: [String]?
    package var allowedExecutables: [String]?

    package init(
        name: String,
        issuer: String? = nil,
        provider: String? = nil,
        variables: [String: String]? = nil,
        providerSettings: [String: String]? = nil,
        clientId: String,
        clientAuthentication: String? = nil,
        clientKeyId: String? = nil,
        teamId: String? = nil,
        dpop: Bool? = nil,
        grantType: String? = nil,
        assertionSubject: String? = nil,
        assertionAudience: String? = nil,
        assertionLifetimeSec: Int64? = nil,
        subjectAccount: String? = nil,
        subjectTokenType: String? = nil,
        actorAccount: String? = nil,
        actorTokenType: String? = nil,
        requestedTokenType: String? = nil,
        scopes: [String]? = nil,
        refreshParameters: [String: String]? = nil,
        authorizationParameters: [String: String]? = nil,
        authorizationDetails: String? = nil,
        redirectUri: String? = nil,
        redirectPort: Int64? = nil,
        redirectScheme: String? = nil,
        postLogoutRedirectUri: String? = nil,
        leadTimeSec: Int64? = nil,
        rotationGraceSec: Int64? = nil,
        refreshTokenLifetimeSec: Int64? = nil,
        allowedUnits: [String]? = nil,
        allowedExecutables: [String]? = nil
    ) {
        self.name = name
        self.issuer = issuer
        self.provider = provider
        self.variables = variables
        self.providerSettings = providerSettings
        self.clientId = clientId
        self.clientAuthentication = clientAuthentication
        self.clientKeyId = clientKeyId
        self.teamId = teamId
        self.dpop = dpop
        self.grantType = grantType
        self.assertionSubject = assertionSubject
        self.assertionAudience = assertionAudience
        self.assertionLifetimeSec = assertionLifetimeSec
        self.subjectAccount = subjectAccount
        self.subjectTokenType = subjectTokenType
        self.actorAccount = actorAccount
        self.actorTokenType = actorTokenType
        self.requestedTokenType = requestedTokenType
        self.scopes = scopes
        self.refreshParameters = refreshParameters
        self.authorizationParameters = authorizationParameters
        self.authorizationDetails = authorizationDetails
        self.redirectUri = redirectUri
        self.redirectPort = redirectPort
        self.redirectScheme = redirectScheme
        self.postLogoutRedirectUri = postLogoutRedirectUri
        self.leadTimeSec = leadTimeSec
        self.rotationGraceSec = rotationGraceSec
        self.refreshTokenLifetimeSec = refreshTokenLifetimeSec
        self.allowedUnits = allowedUnits
        self.allowedExecutables = allowedExecutables
    }
}
