internal import AuthRefreshInterface
internal import Basics

/// Takes over one account.
struct Transfer {
    let daemon: Daemon
    let found: FoundAccount
    /// The account's new name.
    let name: String

    /// Takes over the account.
    ///
    /// - Throws: no account is left behind, unless the error says that it could not be removed.
    func run() throws(ProgramError) -> TransferRecord {
        if found.hasGrant { try found.source.checkStopped(found.sourceName) }
        var account = try found.open()
        account.settings.name = name
        try check(account)
        account.settings.issuer = try daemon.publishedIssuer(account.settings)
        if account.refreshToken != nil { try readLast(&account) }
        // The client is registered with its old redirect URI, not with one for a new account.
        if account.settings.provider == nil {
            account.settings.redirectUri = account.settings.redirectUri ?? "http://127.0.0.1/"
        }
        if let refusal = try daemon.add(account) {
            guard refusal.accountExists else { throw refusal.error }
            throw ProgramError(
                .usage,
                "an account named '\(name)' exists already",
                hint: Hint(Command("import", "--from", found.source.rawValue, name, "--as", "NEWNAME"))
            )
        }
        guard account.refreshToken != nil else {
            let message: Hint = "settings taken over from \(found.source.title); sign in: \(Command("login", name))"
            return TransferRecord(found, account, name: name, "settings", message)
        }
        return try prove(account)
    }

    /// Checks once more for the running program. Since the first check, a password was typed and a server was asked,
    /// and a timer may have started the program. It then reads the program's latest refresh token.
    private func readLast(_ account: inout MovableAccount) throws(ProgramError) {
        try found.source.checkStopped(found.sourceName)
        // An encrypted account would need its password again. Its program was stopped before it was read.
        guard found.account != nil else { return }
        account.refreshToken = try found.open().refreshToken
    }

    private func check(_ account: MovableAccount) throws(ProgramError) {
        func missing(_ what: String) -> ProgramError {
            // The last note says what the source lacks.
            let note = account.notes.last?.withoutFullStop
            let help: Hint = "see '\(Command("account", "add", "--help"))'"
            return ProgramError(.badData, "\(what) is missing", hint: note ?? help)
        }
        guard account.settings.clientId != nil else { throw missing("the client id") }
        guard account.settings.issuer != nil || account.settings.provider != nil else {
            throw missing("the authorization server")
        }
    }

    /// Waits for the first refresh. If the server says that the grant has ended, the account is removed. After any
    /// other error, the daemon keeps the grant, because it may already have spent it.
    private func prove(_ account: MovableAccount) throws(ProgramError) -> TransferRecord {
        let refusal: ErrorReply?
        do throws(ProgramError) {
            refusal = try daemon.prove(name)
        } catch {
            return unproved(account, ProgramError(.tryAgainLater, "the daemon did not answer"))
        }
        guard let refusal else {
            let message: Hint = "taken over from \(found.source.title), and refreshed once"
            return TransferRecord(found, account, name: name, "taken", message)
        }
        guard refusal.endsGrant else { return unproved(account, refusal.error) }
        guard daemon.remove(name) else {
            throw ProgramError(
                .tryAgainLater,
                "the grant of '\(name)' does not work, and the account could not be removed",
                hint: Hint(Command("account", "remove", name))
            )
        }
        let error = refusal.error
        throw ProgramError(
            error.status,
            "the grant of '\(name)' does not work: \(error.message); the account was removed again",
            hint: "it may have been used or revoked elsewhere; sign in to a new account: "
                + "\(Command("login", "--help"))"
        )
    }

    /// The account and its grant were added, but the grant could not be tested now.
    private func unproved(_ account: MovableAccount, _ error: ProgramError) -> TransferRecord {
        let next = error.hint ?? "the daemon tries again"
        let message: Hint =
            "taken over from \(found.source.title), but not refreshed yet: \(error.message); \(next)"
        return TransferRecord(found, account, name: name, "unproved", message, error.status)
    }
}

extension Hint {
    /// A note as a hint, which has no full stop.
    fileprivate var withoutFullStop: Hint {
        guard case .text(let text) = parts.last, text.hasSuffix(".") else { return self }
        return Hint(parts: parts.dropLast() + [.text(String(text.dropLast()))])
    }
}
