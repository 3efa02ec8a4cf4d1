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

extension SourceProgram {
    /// The program's name for people.
    package var title: String {
        switch self {
        case .oidcAgent: "oidc-agent"
        case .muttOAuth2: "mutt_oauth2.py"
        case .pizauth: "pizauth"
        case .gcloud: "gcloud"
        case .azureCLI: "Azure CLI"
        case .rclone: "rclone"
        case .kubelogin: "kubelogin"
        case .kubeconfig: "kubectl"
        case .onedrive: "OneDrive Client for Linux"
        case .aerc: "aerc"
        case .file: "the file"
        }
    }

    /// The note about an account without a refresh token.
    var noRefreshToken: String {
        self == .file ? "The file has no refresh token. Sign in." : "\(title) has no refresh token. Sign in again."
    }
}
