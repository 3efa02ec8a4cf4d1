internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl git-credential`, also called `git-credential-authctl`.
struct GitCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git-credential",
        abstract: "Give git a token, as its credential helper.",
        discussion: """
            Examples:

              \(InvokedAs.here) account edit work --url https://git.example.org/
              git config --global credential.helper authctl
              git config --global credential.https://git.example.org.helper \\
                'authctl --account work'

            git runs this command by itself once 'credential.helper' is 'authctl'. It uses the account whose \
            address (account edit --url) is the longest match for the repository's address. git passes the path \
            only with 'credential.useHttpPath'. If no account matches, it prints nothing, and git asks its next \
            helper. If the server refuses a token, git 2.46 and later gets a new one at once. An older git fails, and its \
            next command gets a new token.

            If you have to sign in first, git is told to stop, and standard error shows the command to type. \
            Tokens are sent to https:// addresses and to http:// addresses on this machine, and with --account also \
            to mail servers (imaps, smtp); never to ftp://, git:// or other addresses.
            """
    )

    @Argument(help: "What git asks for: get, store, erase or capability; anything else is ignored.")
    var operation: String

    @Option(help: .value("account", "Use this account for every address."), completion: DaemonCompletion.accounts)
    var account: String?

    @Flag(help: "Print errors as JSON.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        switch operation {
        case "get": try get(GitCredential(StandardInput.toolText(endsWithEmptyLine: true)))
        case "erase": try erase(GitCredential(StandardInput.toolText(endsWithEmptyLine: true)))
        case "capability": try StandardOutput.write("version 0\ncapability authtype\ncapability state\n")
        default: return
        }
    }

    private func get(_ asked: GitCredential) throws(Report) {
        guard let url = asked.url else { return }
        do throws(Report) {
            var daemon = try connection.connect()
            let found = try daemon.account(for: url, username: asked.username, named: account)
            guard let found else { return warnOfClearText(url) }
            try answer(asked, found.name, found.username, found.takesBearer, &daemon)
        } catch {
            // A user who has named the account wants no other helper's password.
            if account != nil { try stop() }
            throw error
        }
    }

    private func answer(
        _ asked: GitCredential,
        _ name: String,
        _ username: String?,
        _ takesBearer: Bool,
        _ daemon: inout DaemonConnection
    ) throws(Report) {
        let token: ToolToken
        do throws(Report) {
            let request = TokenRequest(account: name, socket: connection.socket)
            let held = try ToolToken(request, from: &daemon)
            if asked.wasRefused(held) {
                try daemon.reportRejected(name, token: held.secret)
                token = try ToolToken(request, from: &daemon)
            } else {
                token = held
            }
        } catch {
            // Otherwise git would ask for a password on the terminal, but the user has none.
            if account == nil { try stop() }
            throw error
        }
        try StandardOutput.write(asked.answer(token, username: username, takesBearer: takesBearer))
    }

    private func stop() throws(Report) {
        try StandardOutput.write("quit=1\n")
    }

    private func erase(_ asked: GitCredential) throws(Report) {
        guard let url = asked.url, let secret = asked.secret, !secret.reveal().isEmpty else { return }
        var daemon = try connection.connect()
        guard let name = try daemon.account(for: url, username: asked.username, named: account)?.name else { return }
        try daemon.reportRejected(name, token: secret)
    }

    /// Says why a named account was not used.
    private func warnOfClearText(_ url: String) {
        guard account != nil else { return }
        StandardError.warn("no token is sent to '\(url)', because it could be read on the way: use https")
    }
}
