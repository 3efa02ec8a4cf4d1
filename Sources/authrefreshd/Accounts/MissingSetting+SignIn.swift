internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import RefreshCore

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
    mutating func failure(of request: SignInRequest, to account: Account) -> SignInFailure? {
        guard let missing = missingSetting(of: account) else { return nil }
        switch missing.setting {
        case .scopes: guard !RequiredSetting.nameAPI(request.scopes ?? []) else { return nil }
        case .redirectPort:
            // Pasting, and a code on another device, need no port of ours.
            guard request.flow ?? RedirectChoice.flow(for: signIn(for: account)) == .browser else { return nil }
        }
        let edit = Command(words: ["account", "edit", account.name.text] + missing.setting.option)
        return SignInFailure(.misconfigured, missing.complaint.reason, hint: "\(edit)\(missing.noted)")
    }
}
