/// `--token-file` without a name: the parser knows no option whose value may be left out.
enum TokenFileName {
    private static let option = "--token-file"

    /// `arguments` with the account's own name where `account add` or `edit` has the option alone.
    static func fillIn(_ arguments: [String]) -> [String] {
        guard arguments.count > 2, arguments[0] == "account", ["add", "edit"].contains(arguments[1]),
            let place = arguments.firstIndex(of: option)
        else { return arguments }
        let next = arguments.index(after: place)
        // What begins with "-" is no name of a file.
        let isAlone = next == arguments.endIndex || arguments[next].hasPrefix("-")
        guard isAlone, !arguments[2].hasPrefix("-") else { return arguments }
        var filled = arguments
        filled.insert(arguments[2], at: next)
        return filled
    }
}
