internal import ArgumentParser

/// `authctl`: the root of all commands.
struct AuthctlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authctl",
        abstract: "Ask authrefreshd for fresh OAuth tokens, and look after its accounts.",
        discussion: """
            Add an account once, with a refresh token from your authorization server:

              authctl account add work --issuer https://login.example.com \\
                --client-id mail --scope offline_access --refresh-token-file token.txt

            From then on the daemon refreshes it, and programs ask for a valid access token:

              authctl token work

            --socket PATH names another daemon's socket for every command, as does the variable \
            AUTHREFRESH_SOCKET.

            Exit status: 0 done, 3 a person must act, 4 no such account, 5 signed out, 64 wrong arguments, 65 bad \
            data, 69 no daemon, 75 try again later, 77 not permitted, 78 misconfigured, 130 cancelled.
            """,
        version: Authctl.version,
        subcommands: [
            StatusCommand.self, TokenCommand.self, RefreshCommand.self, WatchCommand.self, AccountCommand.self,
            LogoutCommand.self, ProviderCommand.self, StoreCommand.self, InterfaceCommand.self,
        ]
    )
}
