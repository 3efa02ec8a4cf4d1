/// What a file or a program's answer should have been.
package enum ExpectedFormat: Hashable, Sendable {
    case oidcAgentAccount
    case muttToken
    case muttScript
    case pizauthConfiguration
    case gcloudCredentials
    case azureTokenCache
    case rcloneConfiguration
    case rcloneToken(remote: String)
    case kubeloginCache
    case kubeconfig
    /// The account was there when the table was made.
    case accountAsBefore(String)
    case tokensAsBefore

    /// Follows "expected ". Lower case, no full stop.
    package var text: String {
        switch self {
        case .oidcAgentAccount: "the account configuration that 'oidc-gen -p' prints"
        case .muttToken: "the token file of mutt_oauth2.py, decrypted"
        case .muttScript: "a copy of mutt_oauth2.py"
        case .pizauthConfiguration: "pizauth's configuration file"
        case .gcloudCredentials:
            "the file that 'gcloud auth application-default login' writes (\"type\": \"authorized_user\")"
        case .azureTokenCache: "the token cache that Azure CLI writes, msal_token_cache.json"
        case .rcloneConfiguration: "rclone's configuration file"
        case .rcloneToken(let remote): "a token in JSON for the remote '\(remote)'"
        case .kubeloginCache: "a file of kubelogin's token cache"
        case .kubeconfig: "a kubeconfig file"
        case .accountAsBefore(let name): "the account '\(name)', as before"
        case .tokensAsBefore: "the account's tokens, as before"
        }
    }
}

/// How a person makes an encrypted file readable.
package enum DecryptionHint: Hashable, Sendable, CaseIterable {
    case azureTokenCache
    case rcloneConfiguration
    /// The script is there, but was not named.
    case muttScript
    /// The script is missing, or names no program that decrypts.
    case muttScriptMissing

    /// Lower case, no full stop.
    package var text: String {
        switch self {
        case .azureTokenCache: "az config set core.encrypt_token_cache=false, then az account clear and az login"
        case .rcloneConfiguration: "remove the password in 'rclone config', and set it again later"
        case .muttScript: "name the script beside it, whose DECRYPTION_PIPE decrypts it"
        case .muttScriptMissing: "put a copy of your mutt_oauth2.py beside it: its DECRYPTION_PIPE decrypts the file"
        }
    }
}

/// What could not be taken over with an account.
package enum MovingNote: Hashable, Sendable {
    case noRefreshToken(SourceProgram)
    case settingsOnly(account: String)
    case serverUnreadable
    case issuerGuessed(String, endpoint: String)
    case issuerGuessedFromHost(String)
    case noProfile(kind: String)
    case clientUnknown
    case builtInClient
    case scopesUnknown
    case certificateAuthority
    case audience(String, account: String)
    case quotaProject(String)

    /// Whole sentences. The last one may end with a command instead of a full stop.
    package var text: String {
        switch self {
        case .noRefreshToken(let program): "\(program.title) has no refresh token. Sign in again."
        case .settingsOnly(let account): "pizauth stores no refresh tokens. Sign in once: authctl login \(account)"
        // The address is not shown, because it may contain a password.
        case .serverUnreadable: "The address of the server cannot be read."
        case .issuerGuessed(let issuer, let endpoint):
            "The issuer '\(issuer)' is a guess: the program names only '\(endpoint)'."
        case .issuerGuessedFromHost(let host): "The issuer is a guess: the cache names only the server '\(host)'."
        case .noProfile(let kind):
            "There is no provider profile for rclone's '\(kind)'. Name the issuer with --issuer."
        case .clientUnknown:
            "The client id is not known. Put your copy of mutt_oauth2.py, which contains it, beside the token file."
        case .builtInClient:
            "The grant belongs to rclone's built-in client, and only rclone has its secret."
                + " Register a client of your own, and sign in with it."
        case .scopesUnknown: "The file does not name the scopes. If you sign in again, name them with --scope."
        case .certificateAuthority:
            "The issuer's certificate authority was not taken over. Set 'ca_file' in authrefreshd.yaml."
        case .audience(let audience, let account):
            "The audience is not a setting of the account. Ask for it: authctl token \(account) --audience \(audience)"
        case .quotaProject(let project): "The quota project '\(project)' is not a setting of the account."
        }
    }
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
        }
    }
}
