package import AuthRefreshInterface
package import RefreshCore

/// An account that another program keeps, as far as it can be taken along.
package struct MovableAccount: Sendable {
    /// The program that keeps it.
    package var source: SourceProgram
    /// As that program calls it.
    package var sourceName: String
    /// What `AddAccount` takes; `name` is the suggestion for the account's name.
    package var settings: AccountSettings
    /// Nil: a client without one.
    package var clientSecret: Secret?
    /// Nil: only the settings can be taken along, and the user signs in anew.
    package var refreshToken: Secret?
    /// The file or the command it was read from, as it is shown to the user.
    package var origin: String
    /// What could not be taken along, each a plain sentence.
    package var notes: [String]

    /// - Parameter sourceName: nil: the name in the settings.
    package init(
        source: SourceProgram,
        sourceName: String? = nil,
        settings: AccountSettings,
        clientSecret: Secret? = nil,
        refreshToken: Secret? = nil,
        origin: String,
        notes: [String] = []
    ) {
        self.source = source
        self.sourceName = sourceName ?? settings.name
        self.settings = settings
        self.clientSecret = clientSecret
        self.refreshToken = refreshToken
        self.origin = origin
        self.notes = notes
    }
}

/// A program that accounts are taken over from; the raw value is what `--from` takes.
package enum SourceProgram: String, CaseIterable, Sendable {
    case oidcAgent = "oidc-agent"
    case muttOAuth2 = "mutt_oauth2"
    case pizauth
    case gcloud
    case azureCLI = "az"
    case rclone
    case kubelogin
    case kubeconfig
}
