internal import AuthRefreshInterface
internal import Basics

/// Finds the account for a command that names none.
enum OnlyAccount {
    /// `name`; or, if that is nil and a person typed the command, the only account. A script must name its account,
    /// because without a name it would fail or mean another account as soon as there is a second one.
    ///
    /// - Throws: `usage` if there is not exactly one account.
    static func resolve(_ name: String?, _ connection: ConnectionOptions) throws(Report) -> String {
        if let name { return name }
        guard StandardInput.isTerminal else {
            throw .usage("the account's name is missing", hint: "\(Command("account", "list"))")
        }
        var daemon = try connection.connect()
        let page = try daemon.ask(GetStatus.Parameters())
        let names = page.accounts.map(\.account)
        guard let only = names.first else {
            throw .usage("there are no accounts", hint: "\(StatusView.firstLogin)")
        }
        guard names.count == 1, page.next == nil else {
            let shown = names.prefix(10).map(PlainText.line).joined(separator: ", ")
            let rest = names.count > 10 || page.next != nil ? ", …" : ""
            throw .usage(
                "the account's name is missing, and there are several accounts",
                hint: "one of: \(shown + rest)"
            )
        }
        return only
    }
}
