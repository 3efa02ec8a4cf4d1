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
        let (path, depth) = CommandPath.find(in: arguments)
        let names = path.names
        guard !names.isEmpty, arguments.count > depth else { return }
        let word = arguments[depth]
        guard !word.hasPrefix("-"), word != "help" || depth > 0 else { return }
        throw .unknownCommand(suggestion: Spelling.nearest(to: word, in: names), helpCommand: "\(path.text) --help")
    }
}

/// The command that arguments name.
struct CommandPath {
    private(set) var command: any ParsableCommand.Type = AuthctlCommand.self
    /// `authctl account add`.
    private(set) var text = "authctl"

    /// The names of its sub-commands.
    var names: [String] {
        command.configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// The command at the beginning of the arguments, and of how many words its name is.
    static func find(in arguments: [String]) -> (path: CommandPath, depth: Int) {
        var path = CommandPath()
        var depth = 0
        for argument in arguments {
            guard
                let next = path.command.configuration.subcommands.first(where: {
                    $0.configuration.commandName == argument
                })
            else { break }
            path.command = next
            path.text += " \(argument)"
            depth += 1
        }
        return (path, depth)
    }
}
