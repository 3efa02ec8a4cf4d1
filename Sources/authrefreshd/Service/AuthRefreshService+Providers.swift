internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// The method about provider profiles.
extension AuthRefreshService {
    func providers(_ call: VarlinkCall, on coordinator: isolated RefreshCoordinator) throws -> ListProviders.Reply {
        _ = try call.decodeParameters(as: ListProviders.Parameters.self)
        let profiles = coordinator.settings.profiles
        return ListProviders.Reply(
            providers: profiles.names.compactMap { name in
                guard let profile = profiles.named(name) else { return nil }
                return ProviderDescription(profile, path: profiles.path(of: name))
            }
        )
    }
}

extension ProviderDescription {
    fileprivate init(_ profile: ProviderProfile, path: String) {
        self.init(name: profile.name, path: path)
        documentation = profile.documentation
        issuer = profile.issuer?.url
        issuerTemplate = profile.issuerTemplate
        tokenEndpoint = profile.tokenEndpoint?.url
        revocationEndpoint = profile.revocationEndpoint?.url
        clientAuthentication = profile.authentication?.rawValue
        refreshParameters = profile.refreshParameters.isEmpty ? nil : profile.refreshParameters
        revocationParameters = profile.revocationParameters.isEmpty ? nil : profile.revocationParameters
        headers = profile.headers.isEmpty ? nil : profile.headers
        correlationHeader = profile.correlationHeader
        scopeSeparator = profile.scopeSeparator
        tokenPath = profile.tokenPath
        defaultLifetimeSec = profile.defaultLifetime?.duration.components.seconds
        refreshTokenLifetimeSec = profile.refreshTokenLifetime?.duration.components.seconds
        rotationGraceSec = profile.rotationGrace?.duration.components.seconds
        caFile = profile.caFile
        maxConcurrentRefreshes = profile.maxConcurrentRefreshes.map(Int64.init)
        maxRefreshesPerSecond = profile.maxRefreshesPerSecond
    }
}
