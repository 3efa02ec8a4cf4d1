internal import OAuthMessages
internal import RefreshCore
internal import SignIn

/// A setting that the provider needs and the account lacks, so that nobody can sign in to it.
struct MissingSetting: Hashable {
    let setting: RequiredSetting
    /// The provider profile's note about it; nil if there is none.
    let note: String?

    /// The setting's name on the wire.
    var field: String {
        switch setting {
        case .scopes: "scopes"
        case .redirectPort: "redirectPort"
        }
    }

    /// The reason: one phrase in lower case.
    var reason: String {
        switch setting {
        case .scopes: "the provider gives an access token only for a scope of an API, and the account names none"
        case .redirectPort: "the provider compares the port of the redirect URI, and the account names none"
        }
    }

    /// What helps.
    ///
    /// - Parameter command: the command for the option, with a space at the end; empty for the command that was just
    ///   typed.
    func hint(after command: String = "") -> String {
        let option =
            switch setting {
            case .scopes: "--scope SCOPE"
            case .redirectPort: "--redirect-port PORT"
            }
        return command + option + (note.map { " (\($0))" } ?? "")
    }
}

extension RefreshConfiguration {
    /// The first setting that `account` lacks; nil if people can sign in.
    mutating func missingSetting(of account: Account) -> MissingSetting? {
        guard let profile = profile(for: account), let setting = profile.missingSetting(account.registration) else {
            return nil
        }
        let topic: ProfileNote.Topic =
            switch setting {
            case .scopes: .scopes
            case .redirectPort: .redirects
            }
        return MissingSetting(setting: setting, note: profile.note(about: topic))
    }

    /// Why a sign-in of `account` cannot start; nil if nothing is missing. Checked before a code is requested, because
    /// such a code would be lost.
    mutating func flaw(of request: SignInRequest, to account: Account) -> SignInFailure? {
        guard let missing = missingSetting(of: account) else { return nil }
        switch missing.setting {
        case .scopes: guard !RequiredSetting.nameAPI(request.scopes ?? []) else { return nil }
        case .redirectPort:
            // Pasting, and a code on another device, need no port of ours.
            guard request.flow ?? RedirectChoice.flow(for: signIn(for: account)) == .browser else { return nil }
        }
        var failure = SignInFailure(.misconfigured, missing.reason)
        failure.hint = missing.hint(after: "authctl account edit \(account.name) ")
        return failure
    }
}
