internal import AuthRefreshInterface

extension SourceProgram {
    /// The program's name for people.
    var title: String {
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
