internal import AuthRefreshInterface
internal import Basics

/// The table of found accounts that `--dry-run` shows.
struct AccountTable {
    let accounts: [FoundAccount]

    static let nothingFound = "no account was found in another program"
    private static let header = ["NAME", "FROM", "SERVER", "TAKES"]

    /// The issuer, or the provider.
    static func server(of found: FoundAccount) -> String {
        guard let account = found.account else { return "encrypted" }
        return account.settings.issuer ?? account.settings.provider ?? "unknown"
    }

    func text(for output: ImportOutput) -> String {
        output.isJSON ? json(by: output.called) : lines
    }

    private static func takes(_ found: FoundAccount) -> String {
        found.hasGrant ? "grant and settings" : "settings"
    }

    private var lines: String {
        guard !accounts.isEmpty else { return Self.nothingFound + "\n" }
        let rows =
            [Self.header]
            + accounts.map { found in
                [found.name, found.source.rawValue, Self.server(of: found), Self.takes(found)]
                    .map { PlainText.line($0) }
            }
        let widths = Self.header.indices.map { column in rows.map { TerminalWidth.of($0[column]) }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - TerminalWidth.of($0)) }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }

    private func json(by called: InvokedAs) -> String {
        let members = accounts.map { found in
            ImportDocument(
                account: found.name,
                issuer: found.account?.settings.issuer,
                notes: found.account?.notes.map { $0.text(by: called) } ?? [],
                origin: found.origin,
                program: found.source.rawValue,
                provider: found.account?.settings.provider,
                takes: found.hasGrant ? "grant" : "settings"
            )
        }
        return ImportDocument.text(members)
    }
}
