internal import Basics
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
        let hint = Hint(setting.option.joined(separator: " ") + noted)
        switch setting {
        case .scopes:
            return Complaint(
                field: setting.field,
                "the provider gives an access token only for a scope of an API, and the account has none",
                hint: hint
            )
        case .redirectPort:
            return Complaint(
                field: setting.field,
                "the provider compares the port of the redirect URI, and the account has none",
                hint: hint
            )
        }
    }

    /// What the profile says about it, as it follows the option; empty if there is nothing.
    var noted: String { note.map { " (\($0))" } ?? "" }
}

extension RequiredSetting {
    /// Its name on the wire.
    var field: String {
        switch self {
        case .scopes: "scopes"
        case .redirectPort: "redirectPort"
        }
    }

    /// The option of `authctl account edit` that gives it.
    var option: [String] {
        switch self {
        case .scopes: ["--scope", "SCOPE"]
        case .redirectPort: ["--redirect-port", "PORT"]
        }
    }
}
