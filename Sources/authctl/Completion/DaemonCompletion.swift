internal import ArgumentParser
internal import AuthRefreshInterface

/// What a shell offers for the word at the cursor, out of what the daemon knows.
///
/// A key was pressed, so it is quick, and quiet: without a daemon, or with a slow one, nothing is offered.
enum DaemonCompletion {
    /// Seconds; a daemon that runs answers within a millisecond, one that its socket starts within a tenth of a second, and a
    /// loaded machine takes ten times as long.
    private static let patience: Int32 = 2

    /// Names of accounts.
    static var accounts: CompletionKind { .custom { words, _, prefix in accounts(words, prefix) } }

    /// Names of provider profiles.
    static var providers: CompletionKind { .custom { words, _, prefix in providers(words, prefix) } }

    /// At most a page of them, from the prefix on; the shell chooses those that fit. The daemon's pages begin where they are
    /// asked to, whether it keeps ten accounts or a million.
    private static func accounts(_ words: [String], _ prefix: String) -> [String] {
        guard var daemon = try? DaemonConnection(socket: socket(in: words)) else { return [] }
        // A word that was begun with a quote comes with it.
        let prefix = String(prefix.drop { $0 == "'" || $0 == "\"" })
        guard !prefix.isEmpty else { return names(ListAccounts.Parameters(), &daemon) }
        // The beginning of a name is a name too, and may be one of ours.
        let names =
            names(ListAccounts.Parameters(accounts: [prefix]), &daemon)
            + names(ListAccounts.Parameters(after: prefix), &daemon)
        // bash shows whatever it is given.
        return names.filter { $0.hasPrefix(prefix) }
    }

    private static func names(_ page: ListAccounts.Parameters, _ daemon: inout DaemonConnection) -> [String] {
        let reply = try? daemon.ask(.listAccounts, page, for: ListAccounts.Reply.self, patience: patience)
        return reply?.accounts.map(\.name) ?? []
    }

    private static func providers(_ words: [String], _ prefix: String) -> [String] {
        guard var daemon = try? DaemonConnection(socket: socket(in: words)) else { return [] }
        let asked = ListProviders.Parameters()
        let reply = try? daemon.ask(.listProviders, asked, for: ListProviders.Reply.self, patience: patience)
        return reply?.providers.map(\.name).filter { $0.hasPrefix(prefix) } ?? []
    }

    /// The value of `--socket` in the line that is typed.
    static func socket(in words: [String]) -> String? {
        let joined = "--socket="
        if let word = words.first(where: { $0.hasPrefix(joined) }) { return String(word.dropFirst(joined.count)) }
        return zip(words, words.dropFirst()).first { $0.0 == "--socket" }?.1
    }
}

/// Answers the completion scripts that `--generate-completion-script` makes.
enum ShellCompletion {
    /// Prints the candidates, a line each; nothing if the parser cannot make sense of the line.
    static func answer(_ arguments: [String]) throws(AuthctlError) {
        do {
            _ = try AuthctlCommand.parseAsRoot(arguments)
        } catch {
            guard AuthctlCommand.exitCode(for: error) == .success else { return }
            try StandardOutput.write(AuthctlCommand.fullMessage(for: error) + "\n")
        }
    }
}
