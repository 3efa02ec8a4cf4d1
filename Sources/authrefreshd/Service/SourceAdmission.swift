internal import AccountStorage
internal import AuthRefreshInterface
internal import CommandLineProgram
internal import RefreshCore
internal import Varlink

/// Conditions on the accounts from which another account's token is derived.
///
/// A caller of the derived account need not be allowed to use the sources' tokens, because that is the purpose of
/// deriving. But whoever adds a derived account, or changes its server, decides where the sources' tokens are sent. So
/// each exchange is made on behalf of that program. The program must be on the sources' lists when it makes the change,
/// and on every later version of the lists.
extension RefreshCoordinator {
    /// Looks up the sources in `draft`, and records the caller as the program on whose behalf the exchanges are made.
    ///
    /// - Returns: false if the caller has to be looked up first.
    /// - Throws: `InvalidSettings`; `LimitExceeded`; `PermissionDenied` if the caller may not use a source's token.
    func bindSources(of draft: inout NewAccount, to caller: Caller) throws(VarlinkError) -> Bool {
        guard var terms = draft.registration.serviceGrant?.exchange else { return true }
        guard let program = try program(of: caller, for: draft.name),
            let subject = try source(terms.subject, of: draft, for: caller)
        else { return false }
        terms.deriver = program.seen
        terms.subject.id = subject
        if let actor = terms.actor {
            guard let id = try source(actor, of: draft, for: caller) else { return false }
            terms.actor?.id = id
        }
        draft.registration.serviceGrant?.exchange = terms
        return true
    }

    /// Checks the sources of `account`.
    ///
    /// - Returns: false if the caller has to be looked up first.
    /// - Throws: `PermissionDenied` if the caller may not use the token of a source.
    func admit(_ caller: Caller, toSourcesOf account: Account) throws(VarlinkError) -> Bool {
        for source in account.registration.serviceGrant?.exchange?.sources ?? [] {
            guard
                case .whole(let snapshot)? = try stored(
                    sourceAccounts.account(behind: source)
                ),
                let allowed = snapshot.account.allowedCallers
            else { continue }
            let request = ConfirmationQuestion.Request.derivation(of: account.name)
            let name = snapshot.account.name
            guard try admit(caller, to: name, by: allowed, wanting: request) else { return false }
        }
        return true
    }

    /// The source account for `draft`; nil if the caller has to be looked up first.
    private func source(
        _ source: SourceToken,
        of draft: NewAccount,
        for caller: Caller
    ) throws(VarlinkError) -> AccountID? {
        let name = source.account.text
        if let (account, allowed) = try stored(store.allowedCallers(named: name)) {
            let request = ConfirmationQuestion.Request.derivation(of: draft.name)
            guard try admit(caller, to: account, by: allowed, wanting: request) else { return nil }
        }
        guard case .whole(let snapshot)? = try stored(shownAccount(named: name)) else {
            throw Complaint(
                field: "subjectAccount",
                "there is no account '\(name)', or it cannot be read",
                hint: Hint(Command("account", "list"))
            ).error
        }
        guard source.type != .refreshToken || snapshot.account.issuer == draft.issuer else {
            throw Complaint(
                field: "subjectAccount",
                "a refresh token is sent to its own issuer only",
                hint: "--subject-token-type access_token"
            ).error
        }
        try checkChain(from: snapshot.account)
        let id = snapshot.account.id
        let derived = try stored(store.derived(from: id, limit: CallerLimits.derivedAccountsMax))
        guard derived.count < CallerLimits.derivedAccountsMax else {
            throw VarlinkError(LimitExceededError(.derivedAccounts, maximum: CallerLimits.derivedAccountsMax))
        }
        return id
    }

    /// Checks the length of the chain. Circles are impossible, because an account can only be derived from accounts
    /// that existed before it.
    private func checkChain(from account: Account) throws(VarlinkError) {
        var accounts = [account]
        for _ in 0..<CallerLimits.derivationsMax {
            let sources = accounts.flatMap { $0.registration.serviceGrant?.exchange?.sources ?? [] }
            accounts = []
            for source in sources {
                guard
                    case .whole(let snapshot)? = try stored(
                        sourceAccounts.account(behind: source)
                    )
                else {
                    continue
                }
                accounts.append(snapshot.account)
            }
            if accounts.isEmpty { return }
        }
        throw Complaint(
            field: "subjectAccount",
            "more than \(CallerLimits.derivationsMax) accounts would be derived one from another"
        ).error
    }
}
