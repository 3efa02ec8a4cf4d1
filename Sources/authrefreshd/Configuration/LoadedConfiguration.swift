internal import AuthRefreshInterface
internal import Basics
internal import FoundationEssentials
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Systemd

/// The configuration file and the provider profiles, read and validated.
struct LoadedConfiguration: Sendable {
    let file: DaemonConfiguration
    let settings: RefreshConfiguration

    /// Reads the configuration.
    ///
    /// - Throws: the first error in any of the files.
    init(paths: DaemonPaths) throws(ProgramError) {
        if let path = paths.configuration {
            let text = try ConfigurationFile.text(at: path)
            file = try ConfigurationFile.decode(DaemonConfiguration.self, from: text, path: path)
            // authctl reads this key without a YAML parser.
            guard LoginBrowser.command(inConfiguration: text) == file.loginBrowser else {
                throw .configuration("'\(path)', line 1, key 'login_browser': must be \(LoginBrowser.commandRule)")
            }
        } else {
            file = DaemonConfiguration()
        }
        settings = RefreshConfiguration(
            profiles: try ProviderProfiles(folders: paths.profileFolders),
            issuerLimits: file.issuerLimits,
            maxAccounts: file.maxAccounts,
            usesSecretService: file.storeKey == .secretService,
            changeCommand: file.changeCommand
        )
    }

    /// The settings of the OAuth client.
    var client: OAuthClientConfiguration {
        var client = OAuthClientConfiguration()
        client.totalTimeout = file.requestTimeout
        client.caFile = file.caFile
        client.proxy = ProxySettings(
            configured: file.proxy,
            exceptions: file.noProxy,
            environment: ProcessInfo.processInfo.environment
        )
        client.userAgent = "authrefreshd/\(Version.text)"
        client.onRest = OwnProcess.giveBackMemory
        return client
    }
}
