internal import ArgumentParser
internal import AuthRefreshInterface

/// The candidates that a shell offers for the word at the cursor, from the daemon.
///
/// The user has just pressed a key, so it is fast and silent. Without a daemon, or with a slow one, it offers nothing.
enum DaemonCompletion {
    /// The time limit in seconds. A running daemon answers in a millisecond. If its socket has to start it, that takes
    /// a tenth of a second, and ten times as long on a busy machine.
    private static let patience: Int32 = 2

    /// Names of accounts.
    static var accounts: CompletionKind { .custom { words, _, prefix in accounts(words, prefix) } }

    /// Names of provider profiles.
    static var providers: CompletionKind { .custom { words, _, prefix in providers(words, prefix) } }

    /// At most one page of names, starting at the prefix. The shell chooses the matching ones. The daemon finds the
    /// start of the page just as fast with a million accounts.
    private static func accounts(_ words: [String], _ prefix: String) -> [String] {
        guard var daemon = try? DaemonConnection(socket: socket(in: words)) else { return [] }
        // If the word began with a quote, the quote is part of it.
        let prefix = String(prefix.drop { $0 == "'" || $0 == "\"" })
        guard !prefix.isEmpty else { return names(ListAccounts.Parameters(), &daemon) }
        // The prefix may itself be a valid name.
        let names =
            names(ListAccounts.Parameters(accounts: [prefix]), &daemon)
            + names(ListAccounts.Parameters(after: prefix), &daemon)
        // bash shows everything it gets, without filtering.
        return names.filter { $0.hasPrefix(prefix) }
    }

    private static func names(_ page: ListAccounts.Parameters, _ daemon: inout DaemonConnection) -> [String] {
        let reply = try? daemon.ask(page, patience: patience)
        return reply?.accounts.map(\.name) ?? []
    }

    private static func providers(_ words: [String], _ prefix: String) -> [String] {
        guard var daemon = try? DaemonConnection(socket: socket(in: words)) else { return [] }
        let asked = ListProviders.Parameters()
        let reply = try? daemon.ask(asked, patience: patience)
        return reply?.providers.map(\.name).filter { $0.hasPrefix(prefix) } ?? []
    }

    /// The value of `--socket` in the line being typed.
    static func socket(in words: [String]) -> String? {
        let joined = "--socket="
        if let word = words.first(where: { $0.hasPrefix(joined) }) { return String(word.dropFirst(joined.count)) }
        return zip(words, words.dropFirst()).first { $0.0 == "--socket" }?.1
    }
}
