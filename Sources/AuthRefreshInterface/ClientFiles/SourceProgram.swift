/// A program whose accounts can be taken over. The raw value is the argument of `--from`.
package enum SourceProgram: String, CaseIterable, Sendable {
    case oidcAgent = "oidc-agent"
    case muttOAuth2 = "mutt_oauth2"
    case pizauth
    case gcloud
    case azureCLI = "az"
    case rclone
    case kubelogin
    case kubeconfig
    case onedrive
    case aerc
    /// A JSON file of any program that names its client.
    case file
}
