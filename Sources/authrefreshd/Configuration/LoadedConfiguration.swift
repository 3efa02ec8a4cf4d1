internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore

/// The configuration file and the provider profiles, read and checked.
struct LoadedConfiguration: Sendable {
    let file: DaemonConfiguration
    let settings: RefreshConfiguration

    /// - Parameter startedWith: the file that the socket was set up by; nil at the start.
    /// - Throws: the first thing that is wrong in any of the files.
    init(paths: DaemonPaths, startedWith: DaemonConfiguration? = nil) throws(ConfigurationError) {
        if let path = paths.configuration {
            file = try ConfigurationFile.decode(DaemonConfiguration.self, at: path)
        } else {
            file = DaemonConfiguration()
        }
        settings = RefreshConfiguration(
            profiles: try ProviderProfiles(folders: paths.profileFolders),
            issuerLimits: file.issuerLimits,
            maxAccounts: file.maxAccounts,
            // As many callers as at the start may be connected, whatever the file says now.
            maxSubscribers: CallerLimits.subscribersMax(connections: (startedWith ?? file).maxConnections),
            usesSecretService: file.storeKey == .secretService,
            loginBrowser: file.loginBrowser,
            changeCommand: file.changeCommand
        )
    }

    /// How the OAuth client is to be set up.
    var client: OAuthClientConfiguration {
        var client = OAuthClientConfiguration()
        client.totalTimeout = file.requestTimeout
        client.caFile = file.caFile
        client.userAgent = "authrefreshd/\(Version.text)"
        return client
    }
}
