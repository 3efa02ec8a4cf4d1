/// The names of settings: on the wire, and as options.
enum SettingName: String, CaseIterable, Sendable {
    case issuer
    case provider
    case variables
    case providerSettings
    case clientId
    case clientSecret
    case clientKey
    case clientKeyId
    case teamId
    case assertionSubject
    case assertionAudience
    case assertionLifetimeSec
    case clientAuthentication
    case scopes
    case refreshParameters
    case authorizationParameters
    case authorizationDetails
    case redirectUri
    case redirectPort
    case redirectScheme
    case postLogoutRedirectUri
    case leadTimeSec
    case rotationGraceSec
    case refreshTokenLifetimeSec
    case allowedUnits
    case allowedExecutables

    /// The option that sets it, without its dashes.
    var option: String {
        switch self {
        case .issuer: "issuer"
        case .provider: "provider"
        case .variables: "set"
        case .providerSettings: "provider-setting"
        case .clientId: "client-id"
        case .clientSecret: "client-secret"
        case .clientKey: "client-key"
        case .clientKeyId: "client-key-id"
        case .teamId: "team-id"
        case .assertionSubject: "assertion-subject"
        case .assertionAudience: "assertion-audience"
        case .assertionLifetimeSec: "assertion-lifetime"
        case .clientAuthentication: "client-auth"
        case .scopes: "scope"
        case .refreshParameters: "param"
        case .authorizationParameters: "authorization-parameter"
        case .authorizationDetails: "authorization-details"
        case .redirectUri: "redirect-uri"
        case .redirectPort: "redirect-port"
        case .redirectScheme: "redirect-scheme"
        case .postLogoutRedirectUri: "post-logout-redirect-uri"
        case .leadTimeSec: "lead-time"
        case .rotationGraceSec: "rotation-grace"
        case .refreshTokenLifetimeSec: "refresh-token-lifetime"
        case .allowedUnits: "allow-unit"
        case .allowedExecutables: "allow-executable"
        }
    }

    /// The setting as a sentence's subject, for a field's name on the wire.
    static func words(for field: String) -> String {
        switch SettingName(rawValue: field) {
        case .issuer: "the issuer"
        case .provider: "the provider"
        case .variables: "a variable of the provider"
        case .providerSettings: "a setting of the provider"
        case .clientId: "the client id"
        case .clientSecret: "the client secret"
        case .clientKey: "the client's key"
        case .clientKeyId: "the key's name"
        case .teamId: "the team's identifier"
        case .assertionSubject: "the assertion's subject"
        case .assertionAudience: "the assertion's audience"
        case .assertionLifetimeSec: "the assertion's lifetime"
        case .clientAuthentication: "the client's way of authentication"
        case .scopes: "the scope"
        case .refreshParameters: "a parameter"
        case .authorizationParameters: "a parameter of the authorization request"
        case .authorizationDetails: "what is asked for in detail"
        case .redirectUri: "the redirect URI"
        case .redirectPort: "the redirect port"
        case .redirectScheme: "the redirect scheme"
        case .postLogoutRedirectUri: "the redirect URI of the sign-out"
        case .leadTimeSec: "the lead time"
        case .rotationGraceSec: "the rotation grace"
        case .refreshTokenLifetimeSec: "the refresh token's lifetime"
        case .allowedUnits: "an allowed unit"
        case .allowedExecutables: "an allowed executable"
        case nil where field == "register": "a new client"
        case nil where field == "registration": "the client's registration"
        case nil where field == "resources": "a resource"
        case nil where field == "redirect": "the redirected address"
        case nil where field == "audience": "the audience"
        case nil where field == "challenge": "the challenge"
        case nil where ["subjectAccount", "actorAccount"].contains(field): "the account to derive from"
        case nil where ["subjectTokenType", "actorTokenType", "requestedTokenType"].contains(field): "the type of token"
        case nil where field == "dpop": "the account's key"
        case nil where field == "grantType": "the grant"
        case nil where field == "refreshToken": "the refresh token"
        case nil where field == "url": "the URL"
        case nil where field == "name" || field == "newName": "the account's name"
        case nil: "the setting '\(field)'"
        }
    }
}
