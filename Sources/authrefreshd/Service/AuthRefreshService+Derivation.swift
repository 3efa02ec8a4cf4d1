internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// What has to hold of the accounts that another one's token is derived from.
///
/// Who may have the derived token need not be allowed to have theirs: that is what it is derived for. But who adds a derived account,
/// or changes where it asks, decides where their tokens are sent.
extension AuthRefreshService {
    /// - Throws: `InvalidSettings`; `LimitExceeded`; `PermissionDenied` if the caller may not have a source's token; `CallerNeeded`.
    func checkSources(of draft: NewAccount, from caller: Caller, on coordinator: isolated RefreshCoordinator) throws {
        for source in draft.registration.serviceGrant?.exchange?.sources ?? [] {
            let name = source.account
            guard case .whole(let snapshot)? = try coordinator.account(named: name.text) else {
                throw refusal("there is no account '\(name)' that can be read", hint: "authctl account list")
            }
            try admit(caller, to: snapshot.account, on: coordinator)
            guard source.type != .refreshToken || snapshot.account.issuer == draft.issuer else {
                throw refusal(
                    "a refresh token is shown to its own issuer only",
                    hint: "--subject-token-type access_token"
                )
            }
            try checkChain(from: snapshot.account, to: draft.name, on: coordinator)
            let derived = try coordinator.store.derived(from: name, limit: CallerLimits.derivedAccountsMax)
            guard derived.count < CallerLimits.derivedAccountsMax else {
                throw VarlinkError(LimitExceededError(.derivedAccounts, maximum: CallerLimits.derivedAccountsMax))
            }
        }
    }

    /// - Throws: `PermissionDenied` if the caller may not have the token of an account that `account`'s is derived from; `CallerNeeded`.
    func admit(_ caller: Caller, toSourcesOf account: Account, on coordinator: isolated RefreshCoordinator) throws {
        for source in account.registration.serviceGrant?.exchange?.sources ?? [] {
            guard case .whole(let snapshot)? = try coordinator.account(named: source.account.text) else { continue }
            try admit(caller, to: snapshot.account, on: coordinator)
        }
    }

    /// A source that was removed may be added again as one that is derived itself: it must not come back to where it began.
    private func checkChain(
        from account: Account,
        to name: AccountName,
        on coordinator: isolated RefreshCoordinator
    ) throws {
        var accounts = [account]
        for _ in 0..<CallerLimits.derivationsMax {
            let names = accounts.flatMap { $0.registration.serviceGrant?.exchange?.sources ?? [] }.map(\.account)
            guard !names.contains(name) else { throw refusal("its token would be derived from itself", hint: nil) }
            accounts = try names.compactMap { name in
                guard case .whole(let snapshot)? = try coordinator.account(named: name.text) else { return nil }
                return snapshot.account
            }
            if accounts.isEmpty { return }
        }
        throw refusal("more than \(CallerLimits.derivationsMax) accounts would stand behind one another", hint: nil)
    }

    private func refusal(_ reason: String, hint: String?) -> VarlinkError {
        VarlinkError(InvalidSettingsError(field: "subjectAccount", reason: reason, hint: hint))
    }
}
