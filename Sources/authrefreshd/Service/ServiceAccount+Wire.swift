internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// What cannot be done with a service account, because it has no person and no grant of one.
extension VarlinkError {
    static var needsNoGrant: VarlinkError {
        VarlinkError(
            InvalidSettingsError(
                field: "refreshToken",
                reason: "a service account obtains its tokens without one",
                hint: "an account of a person is added without '--grant'"
            )
        )
    }

    static func needsNoPerson(_ account: AccountName) -> VarlinkError {
        VarlinkError(
            SignInFailedError(
                account: account.text,
                kind: "misconfigured",
                reason: "it is a service account, which obtains its tokens without anybody",
                hint: "authctl refresh \(account)"
            )
        )
    }

    /// A resource server wants more than the account's tokens have.
    static func wantsMore(than account: AccountName) -> VarlinkError {
        VarlinkError(
            InvalidSettingsError(
                field: "challenge",
                reason: "it wants more than the account's tokens have, and a service account has nobody to be asked",
                hint: "authctl account edit \(account) --scope SCOPE"
            )
        )
    }
}
