internal import AuthRefreshInterface
internal import Basics
internal import Glibc

extension DaemonConnection {
    /// The account that a tool should use for an address; nil if none matches.
    ///
    /// - Parameter account: the account to use for any address; nil finds it by the address.
    mutating func account(
        for url: String,
        username: String? = nil,
        named account: String? = nil
    ) throws(Report) -> (name: String, username: String?, takesBearer: Bool)? {
        let parameters = FindAccount.Parameters(url: url, username: username, account: account)
        let found = try ask(parameters)
        return found.account.map { ($0, found.username, found.bearer ?? false) }
    }

    /// The account for a server that a tool names with or without a scheme; nil if none matches. Servers on this machine
    /// may use plain HTTP.
    mutating func account(
        forServer server: String,
        username: String? = nil
    ) throws(Report) -> (name: String, username: String?)? {
        for url in server.contains("://") ? [server] : ["https://\(server)", "http://\(server)"] {
            if let found = try account(for: url, username: username) { return (found.name, found.username) }
        }
        return nil
    }

    /// Warns if another account has an address of this one, with the same user name: tools use only the one that was
    /// added first.
    ///
    /// - Parameter change: what the person has just set.
    mutating func warnOfSharedAddresses(
        of settings: AccountSettings,
        by change: AccountSettings
    ) throws(Report) {
        guard change.urls != nil || change.username != nil else { return }
        for url in settings.urls ?? [] {
            let asked = FindAccount.Parameters(url: url, username: settings.username)
            let found = try ask(asked)
            guard let used = found.account else { continue }
            let others = [used] + (found.others ?? [])
            guard let other = others.first(where: { $0 != settings.name }) else { continue }
            let unused = used == settings.name ? other : settings.name
            StandardError.warn(
                "'\(PlainText.line(other))' has the address '\(PlainText.line(url))', too: git and docker use"
                    + " '\(PlainText.line(used))', because it was added first; to tell them apart:"
                    + " \(Command("account", "edit", PlainText.line(unused), "--username", "NAME"))"
            )
        }
    }

    /// Reports that a service refused the account's token. If the account is signed out, that is not an error, because
    /// it has no token to replace.
    ///
    /// - Parameter token: the refused token; if the account has another token by now, nothing happens. Nil means the
    ///   account's present token.
    /// - Throws: `notFresh` if that brought no new token.
    mutating func reportRejected(_ account: String, token: SecretText? = nil) throws(Report) {
        let reply: ReportRejected.Reply
        do throws(Report) {
            reply = try report(account, token)
        } catch  where error.reply?.refusedParameter == "accessToken" {
            // An older daemon cannot compare tokens. It may still run after an upgrade, or behind a forwarded socket.
            guard let token, holds(token.reveal(), in: account, socket: nil) else { return }
            reply = try report(account, nil)
        }
        guard reply.known != false else { return }
        guard [.success, .signedOut].contains(reply.status.refreshExitStatus) else { throw .notFresh(reply.status) }
    }

    private mutating func report(
        _ account: String,
        _ token: SecretText?
    ) throws(Report) -> ReportRejected.Reply {
        try ask(ReportRejected.Parameters(account: account, accessToken: token?.reveal()), refreshing: account)
    }

    /// Whether `secret` is the account's current token; false if the account has no token.
    mutating func holds(_ secret: String, in account: String, socket: String?) -> Bool {
        let token = try? ToolToken(TokenRequest(account: account, socket: socket), from: &self)
        return token?.secret.reveal() == secret
    }
}

extension Report {
    /// What is wrong with another tool's request on standard input.
    static func toolInput(_ problem: String) -> Report {
        .document("standard input \(problem)", hint: "other tools call this command, not people")
    }
}
