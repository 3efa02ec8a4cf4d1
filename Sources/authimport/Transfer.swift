internal import AuthRefreshInterface
internal import MovingIn

/// Takes over one account.
struct Transfer {
    let daemon: Daemon
    let found: FoundAccount
    /// The account's name from now on.
    let name: String

    /// What became of it.
    enum Outcome {
        /// The grant works: it was refreshed once.
        case taken(MovableAccount)
        /// There was no grant to take.
        case settingsOnly(MovableAccount)
        /// The account is there with its grant, which could not be proved now.
        case unproved(MovableAccount, DaemonRefusal?)
    }

    /// - Throws: any case; no account is left behind, but for `notRemoved`.
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
        // Its client is registered with the redirect URI that it has had until now, not with one for a new account.
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

    /// Looks once more for the program: a password was typed and a server was asked since, and a timer may have started it. What it has left
    /// is its last refresh token.
    private func readLast(_ account: inout MovableAccount) throws(ImportError) {
        try found.source.checkStopped(found.sourceName)
        // An encrypted one would need its password again; its program was stopped before it was read.
        guard found.account != nil else { return }
        do throws(MovingInError) {
            account.refreshToken = try found.open().refreshToken
        } catch {
            throw .reading(error)
        }
    }

    private func check(_ account: MovableAccount) throws(ImportError) {
        let hint = account.notes.last ?? "see 'authctl account add --help'"
        guard account.settings.clientId != nil else { throw .incomplete(lacks: "the client's id", hint: hint) }
        guard account.settings.issuer != nil || account.settings.provider != nil else {
            throw .incomplete(lacks: "the authorization server", hint: hint)
        }
    }

    /// Waits for the first refresh. A grant that the server calls over goes again. Whatever else happens, the daemon keeps the grant and may
    /// have spent it already.
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
