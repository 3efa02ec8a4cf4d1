internal import AuthRefreshInterface
internal import MovingIn

/// Takes over one account.
struct Transfer {
    let daemon: Daemon
    let found: FoundAccount
    /// The account's new name.
    let name: String

    /// The result of a transfer.
    enum Outcome {
        /// The grant works. It was refreshed once.
        case taken(MovableAccount)
        /// There was no grant.
        case settingsOnly(MovableAccount)
        /// The account and its grant were added, but the grant could not be tested now.
        case unproved(MovableAccount, DaemonRefusal?)
    }

    /// Takes over the account.
    ///
    /// - Throws: after any error except `notRemoved`, no account is left behind.
    func run() throws(ImportError) -> Outcome {
        if found.hasGrant { try found.source.checkStopped(found.sourceName) }
        var account: MovableAccount
        do throws(MovingInError) {
            account = try found.open()
        } catch {
            throw .reading(error)
        }
        account.settings.name = name
        try check(account)
        account.settings.issuer = try daemon.publishedIssuer(account.settings)
        if account.refreshToken != nil { try readLast(&account) }
        // The client is registered with its old redirect URI, not with one for a new account.
        if account.settings.provider == nil {
            account.settings.redirectUri = account.settings.redirectUri ?? "http://127.0.0.1/"
        }
        do throws(ImportError) {
            try daemon.add(account)
        } catch .refused(let refusal) where refusal.accountExists {
            throw .exists(name: name, source: found.source)
        }
        guard account.refreshToken != nil else { return .settingsOnly(account) }
        return try prove(account)
    }

    /// Checks once more for the running program. Since the first check, a password was typed and a server was asked,
    /// and a timer may have started the program. It then reads the program's latest refresh token.
    private func readLast(_ account: inout MovableAccount) throws(ImportError) {
        try found.source.checkStopped(found.sourceName)
        // An encrypted account would need its password again. Its program was stopped before it was read.
        guard found.account != nil else { return }
        do throws(MovingInError) {
            account.refreshToken = try found.open().refreshToken
        } catch {
            throw .reading(error)
        }
    }

    private func check(_ account: MovableAccount) throws(ImportError) {
        let note = account.notes.last
        guard account.settings.clientId != nil else { throw .incomplete(.client, note: note) }
        guard account.settings.issuer != nil || account.settings.provider != nil else {
            throw .incomplete(.server, note: note)
        }
    }

    /// Waits for the first refresh. If the server says that the grant has ended, the account is removed. After any
    /// other error, the daemon keeps the grant, because it may already have spent it.
    private func prove(_ account: MovableAccount) throws(ImportError) -> Outcome {
        do throws(ImportError) {
            try daemon.prove(name)
            return .taken(account)
        } catch {
            switch error {
            case .noAnswer, .noDaemon, .notPermitted: return .unproved(account, nil)
            case .refused(let refusal):
                guard refusal.endsGrant else { return .unproved(account, refusal) }
                do throws(ImportError) {
                    try daemon.remove(name)
                } catch {
                    throw .notRemoved(name: name)
                }
                throw .grantRefused(name: name, refusal)
            case .usage, .noSuchAccount, .ambiguous, .oneAccountOnly, .reading, .stillRunning, .incomplete, .exists,
                .grantRefused, .notRemoved, .cannotWriteOutput, .cancelled:
                throw error
            }
        }
    }
}
