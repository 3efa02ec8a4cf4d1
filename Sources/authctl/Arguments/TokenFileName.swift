/// Supports `--token-file` without a name, because the parser knows no option with an optional value.
enum TokenFileName {
    private static let option = "--token-file"

    /// `arguments` with the account's own name added after a lone `--token-file` of `account add` or `edit`.
    static func fillIn(_ arguments: [String]) -> [String] {
        guard arguments.count > 2, arguments[0] == "account", ["add", "edit"].contains(arguments[1]),
            let place = arguments.firstIndex(of: option)
        else { return arguments }
        let next = arguments.index(after: place)
        // A word that begins with "-" is not a file name.
        let isAlone = next == arguments.endIndex || arguments[next].hasPrefix("-")
        guard isAlone, !arguments[2].hasPrefix("-") else { return arguments }
        var filled = arguments
        filled.insert(arguments[2], at: next)
        return filled
    }
}
