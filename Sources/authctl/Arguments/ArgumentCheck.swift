internal import ArgumentParser

/// Looks at the arguments before the parser does.
enum ArgumentCheck {
    /// Options that would carry a secret in their value. They do not exist; each is refused with advice.
    static let secretOptions: Set<String> = [
        "--client-secret", "--refresh-token", "--access-token", "--secret", "--password", "--passphrase", "--token",
        "--client-assertion", "--code",
    ]

    /// - Throws: `secretAsArgument`, `unknownCommand`.
    static func check(_ arguments: [String]) throws(AuthctlError) {
        for argument in arguments.prefix(while: { $0 != "--" }) {
            let name = String(argument.prefix { $0 != "=" })
            if secretOptions.contains(name.lowercased()) {
                throw .secretAsArgument(option: name.lowercased())
            }
        }
        try checkCommand(arguments)
    }

    private static func checkCommand(_ arguments: [String]) throws(AuthctlError) {
        // `help` takes the words of a command.
        let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
        let (path, depth) = CommandPath.find(in: words)
        let names = path.names
        guard !names.isEmpty, words.count > depth else { return }
        let word = words[depth]
        guard !word.hasPrefix("-") else { return }
        throw .unknownCommand(suggestion: Spelling.nearest(to: word, in: names), helpCommand: "\(path.text) --help")
    }
}
