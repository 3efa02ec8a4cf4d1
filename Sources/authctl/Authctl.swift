internal import ArgumentParser
internal import Basics
internal import Glibc

/// The program: arguments in, exit status out.
enum Authctl {
    /// Runs the program.
    ///
    /// - Parameter arguments: without the program's name.
    static func run(_ arguments: [String]) -> ExitStatus {
        CoreDumps.forbid()
        do throws(Report) {
            if let request = TokenRequest(arguments: arguments) {
                try request.answer { text throws(Report) in
                    try StandardOutput.write(text)
                    // Only memory is left to release, and the kernel does that faster.
                    _exit(ExitStatus.success.rawValue)
                }
            } else {
                try runParsed(arguments)
            }
            return .success
        } catch {
            StandardError.tell(error, adding: UnusedProxy.hints(after: error, arguments))
            return error.status
        }
    }

    private static func runParsed(_ arguments: [String]) throws(Report) {
        // For a completion, the shell passes half a line, in which nothing is checked or reported.
        guard arguments.first != "---completion" else { return try complete(arguments) }
        let arguments = SettingsOptions.nameTokenFile(in: try adoptLeadingSocket(arguments))
        try ParserReport.check(arguments)
        var command: any ParsableCommand
        do {
            command = try AuthctlCommand.parseAsRoot(ForwardCommand.adoptCommand(arguments))
        } catch {
            return try ParserReport.end(with: error, arguments: arguments)
        }
        do {
            try command.run()
        } catch let error as Report {
            throw error
        } catch {
            // A command without work of its own shows its help text.
            try ParserReport.end(with: error, arguments: arguments)
        }
    }

    /// Answers the completion scripts made by `--generate-completion-script`: the candidates, one per line; nothing if
    /// the parser cannot understand the line.
    private static func complete(_ arguments: [String]) throws(Report) {
        do {
            _ = try AuthctlCommand.parseAsRoot(arguments)
        } catch {
            guard AuthctlCommand.exitCode(for: error) == .success else { return }
            try StandardOutput.write(AuthctlCommand.fullMessage(for: error) + "\n")
        }
    }

    /// Handles `--socket PATH` before the command, where people expect an option of all commands.
    ///
    /// - Returns: the arguments after it.
    private static func adoptLeadingSocket(_ arguments: [String]) throws(Report) -> [String] {
        let prefix = "--socket="
        guard let first = arguments.first, first == "--socket" || first.hasPrefix(prefix) else { return arguments }
        let isJoined = first.hasPrefix(prefix)
        let path = isJoined ? String(first.dropFirst(prefix.count)) : arguments.dropFirst().first ?? ""
        guard !path.isEmpty else { throw .usage("'--socket' needs a path", hint: "see '\(Command("--help"))'") }
        // Each command reads the environment if it has no option of its own.
        unsafe setenv("AUTHREFRESH_SOCKET", path, 1)
        return Array(arguments.dropFirst(isJoined ? 1 : 2))
    }
}
