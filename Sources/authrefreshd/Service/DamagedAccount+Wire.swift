internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

extension DamagedAccount {
    /// What is damaged, without a value.
    var reason: String { "its row in the store is damaged: \(cause)" }

    /// The way out that loses least.
    var hint: String {
        let operand = AccountName(name) == nil ? "'\(name.replacing("'", with: "'\\''"))'" : name
        return "authctl store backup FILE, then authctl account remove \(operand), and add it anew;"
            + " or stop the daemon and restore an earlier backup: authctl store restore FILE"
    }

    /// The account as the wire shows it: of its state nothing is known.
    var wireStatus: AccountStatus {
        AccountStatus(
            account: name,
            state: ShownState.misconfigured.rawValue,
            issuer: issuer?.url ?? "",
            generation: 0,
            failures: 0,
            reason: "damaged",
            failure: Failure(summary: reason),
            hint: hint
        )
    }
}

extension ShownAccount {
    var wireStatus: AccountStatus {
        switch self {
        case .whole(let snapshot): snapshot.wireStatus
        case .damaged(let account): account.wireStatus
        }
    }
}

extension VarlinkError {
    /// What a call for an account that cannot be read is answered with.
    init(_ account: DamagedAccount) {
        self.init(MisconfiguredError(account: account.name, reason: account.reason, hint: account.hint))
    }

    /// A store that fails over one account, as its callers see it.
    init(_ error: StoreError, of account: String) {
        guard error.damagedAccount != nil else {
            self.init(error)
            return
        }
        let isReplaceable = if case .sealBroken(_, .accessToken) = error { true } else { false }
        let hint = isReplaceable ? "authctl refresh \(account)" : error.hint ?? "authctl status \(account)"
        self.init(MisconfiguredError(account: account, reason: "\(error)", hint: hint))
    }
}
