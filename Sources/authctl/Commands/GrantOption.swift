/// `--grant`: how a service account obtains its tokens.
enum GrantOption: String, CaseIterable, Sendable {
    case clientCredentials = "client-credentials"

    /// `grant_type`, as the wire has it.
    var grantType: String {
        switch self {
        case .clientCredentials: "client_credentials"
        }
    }
}
