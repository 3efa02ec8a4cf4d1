internal import ArgumentParser

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
