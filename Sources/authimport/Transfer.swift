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

    /// - Throws: any case; no account is left behind, but for `notRemoved` and `noAnswer`.
    func run() throws(ImportError) -> Outcome {
        // First, because the refresh token that is read afterwards is then the last one.
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

    private func check(_ account: MovableAccount) throws(ImportError) {
        let hint = account.notes.last ?? "see 'authctl account add --help'"
        guard account.settings.clientId != nil else { throw .incomplete(lacks: "the client's id", hint: hint) }
        guard account.settings.issuer != nil || account.settings.provider != nil else {
            throw .incomplete(lacks: "the authorization server", hint: hint)
        }
    }

    /// Waits for the first refresh. A grant that the server refuses goes again, and so does an account that cannot work as it is.
    private func prove(_ account: MovableAccount) throws(ImportError) -> Outcome {
        do throws(ImportError) {
            try daemon.prove(name)
            return .taken(account)
        } catch {
            switch error {
            case .noAnswer: return .unproved(account, nil)
            case .refused(let refusal):
                let isFinal = [InteractionRequiredError.name, MisconfiguredError.name, SignedOutError.name]
                guard isFinal.contains(refusal.name) else { return .unproved(account, refusal) }
                do throws(ImportError) {
                    try daemon.remove(name)
                } catch {
                    throw .notRemoved(name: name)
                }
                throw .grantRefused(name: name, refusal)
            case .usage, .noSuchAccount, .ambiguous, .oneAccountOnly, .reading, .stillRunning, .incomplete, .exists,
                .noDaemon, .notPermitted, .grantRefused, .notRemoved, .cannotWriteOutput, .cancelled:
                throw error
            }
        }
    }
}
