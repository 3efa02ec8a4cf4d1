internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Varlink

/// Conditions on the accounts from which another account's token is derived.
///
/// A caller of the derived account need not be allowed to use the sources' tokens, because that is the purpose of
/// deriving. But whoever adds a derived account, or changes its server, decides where the sources' tokens are sent. So
/// each exchange is made on behalf of that program. The program must be on the sources' lists when it makes the change,
/// and on every later version of the lists.
extension RefreshCoordinator {
    /// Looks up the sources in `draft`.
    ///
    /// - Parameter added: the accounts that the same call adds before `draft`, by name.
    /// - Throws: `InvalidSettings`; `LimitExceeded`.
    func findSources(of draft: inout NewAccount, among added: [String: Account] = [:]) throws(VarlinkError) {
        guard var terms = draft.registration.serviceGrant?.exchange else { return }
        terms.subject.id = try id(of: terms.subject, for: draft, among: added)
        if let actor = terms.actor { terms.actor?.id = try id(of: actor, for: draft, among: added) }
        draft.registration.serviceGrant?.exchange = terms
    }

    /// Records the caller as the program on whose behalf the exchanges of `draft` are made.
    ///
    /// - Throws: `TemporarilyUnavailable` if the caller cannot be identified now.
    func bindSources(of draft: inout NewAccount, to caller: Caller) throws(VarlinkError) {
        guard draft.registration.serviceGrant?.exchange != nil else { return }
        let program = try caller.program(for: draft.name)
        draft.registration.serviceGrant?.exchange?.deriver = program
    }

    /// Judges a caller by the lists of the sources of `account`.
    ///
    /// - Returns: as `admit`.
    /// - Throws: `PermissionDenied` if the caller may not use the token of a source.
    func missing(forSourcesOf account: Account, by caller: Caller) throws(VarlinkError) -> Caller.Missing? {
        for source in account.registration.serviceGrant?.exchange?.sources ?? [] {
            guard case .whole(let snapshot)? = try stored(shownAccount(behind: source)),
                let allowed = snapshot.account.allowedCallers
            else { continue }
            let request = ConfirmationQuestion.Request.derivation(of: account.name)
            let name = snapshot.account.name
            if let missing = try missing(for: name, allowing: allowed, wanting: request, by: caller) { return missing }
        }
        return nil
    }

    /// The account that is a source for `draft`.
    func id(
        of source: SourceToken,
        for draft: NewAccount,
        among added: [String: Account] = [:]
    ) throws(VarlinkError) -> AccountID {
        let name = source.account.text
        var known = added[name]
        if known == nil, case .whole(let snapshot)? = try stored(shownAccount(named: name)) { known = snapshot.account }
        guard let known else {
            throw Complaint(
                field: "subjectAccount",
                "there is no account '\(name)', or it cannot be read",
                hint: Hint(Command("account", "list"))
            ).error
        }
        guard source.type != .refreshToken || known.issuer == draft.issuer else {
            throw Complaint(
                field: "subjectAccount",
                "a refresh token is sent to its own issuer only",
                hint: "--subject-token-type access_token"
            ).error
        }
        try checkChain(from: known, among: added)
        try checkRoom(for: 1, derivedFrom: known.id)
        return known.id
    }

    /// Checks how many accounts are derived from one account.
    ///
    /// - Parameter count: how many are to be added.
    func checkRoom(for count: Int, derivedFrom source: AccountID) throws(VarlinkError) {
        let most = CallerLimits.derivedAccountsMax
        let derived = try stored(store.derived(from: source, limit: most))
        try Limit.derivedAccounts.check(derived.count + count, atMost: most)
    }

    /// Checks the length of the chain. Circles are impossible, because an account can only be derived from accounts
    /// that existed before it.
    private func checkChain(from account: Account, among added: [String: Account]) throws(VarlinkError) {
        var accounts = [account]
        for _ in 0..<CallerLimits.derivationsMax {
            let sources = accounts.flatMap { $0.registration.serviceGrant?.exchange?.sources ?? [] }
            accounts = []
            for source in sources {
                if let new = added[source.account.text] { accounts.append(new) }
                guard case .whole(let snapshot)? = try stored(shownAccount(behind: source)) else { continue }
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
