internal import OAuthClient
internal import RefreshCore
internal import SignIn

/// A setting that an account's provider needs, and the account lacks: nobody could sign in to it.
struct MissingSetting: Hashable {
    let setting: RequiredSetting
    /// What the provider's profile says about it; nil if nothing.
    let note: String?
}

extension RefreshConfiguration {
    /// The first setting that `account` lacks; nil if nothing keeps people from signing in.
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

    /// Why nothing is begun for a sign-in of `account`, before a code is asked for that could only be lost; nil if nothing is missing.
    mutating func flaw(of request: SignInRequest, to account: Account) -> SignInFailure? {
        guard let missing = missingSetting(of: account) else { return nil }
        switch missing.setting {
        case .scopes: guard !RequiredSetting.nameAPI(request.scopes ?? []) else { return nil }
        case .redirectPort:
            // What is pasted, and a code on another device, need no port of ours.
            guard request.flow ?? RedirectChoice.flow(for: signIn(for: account)) == .browser else { return nil }
        }
        var failure = SignInFailure(.misconfigured, missing.reason)
        failure.hint = missing.hint(after: "authctl account edit \(account.name) ")
        return failure
    }
}
