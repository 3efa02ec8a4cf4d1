internal import AuthRefreshInterface
internal import Terminal

/// The account of a command that names none.
enum OnlyAccount {
    /// `name`; or, if the command names none and somebody has typed it, the only account that exists. A script says what it means: what it
    /// asks for would be another account's as soon as there is a second one.
    ///
    /// - Throws: `usage` if that is not one account.
    static func resolve(_ name: String?, _ connection: ConnectionOptions) throws(AuthctlError) -> String {
        if let name { return name }
        guard StandardInput.isTerminal else {
            throw .usage(.noAccountNamed)
        }
        var daemon = try connection.connect()
        let page = try daemon.ask(.getStatus, GetStatus.Parameters(), for: GetStatus.Reply.self)
        let names = page.accounts.map(\.account)
        guard let only = names.first else {
            throw .usage(.noAccounts)
        }
        guard names.count == 1, page.next == nil else {
            let shown = names.prefix(10).map(PlainText.line).joined(separator: ", ")
            let rest = names.count > 10 || page.next != nil ? ", …" : ""
            throw .usage(.severalAccounts(names: shown + rest))
        }
        return only
    }
}
