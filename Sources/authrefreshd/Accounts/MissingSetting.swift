internal import OAuthMessages

/// A setting that the provider needs and the account lacks, so that nobody can sign in to it.
struct MissingSetting: Hashable {
    let setting: RequiredSetting
    /// The provider profile's note about it; nil if there is none.
    let note: String?
}

extension MissingSetting {
    /// The refusal to add the account.
    var complaint: Complaint {
        let noted = note.map { " (\($0))" } ?? ""
        switch setting {
        case .scopes:
            return Complaint(
                field: setting.field,
                "the provider gives an access token only for a scope of an API, and the account has none",
                hint: "--scope SCOPE\(noted)"
            )
        case .redirectPort:
            return Complaint(
                field: setting.field,
                "the provider compares the port of the redirect URI, and the account has none",
                hint: "--redirect-port PORT\(noted)"
            )
        }
    }
}

extension RequiredSetting {
    /// Its name on the wire.
    var field: String {
        switch self {
        case .scopes: "scopes"
        case .redirectPort: "redirectPort"
        }
    }
}
