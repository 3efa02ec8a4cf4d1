internal import ArgumentParser

/// Answers the completion scripts that `--generate-completion-script` makes.
enum ShellCompletion {
    /// Prints the candidates, a line each; nothing if the parser cannot make sense of the line.
    static func answer(_ arguments: [String]) throws(AuthctlError) {
        do {
            _ = try AuthctlCommand.parseAsRoot(arguments)
        } catch {
            guard AuthctlCommand.exitCode(for: error) == .success else { return }
            try StandardOutput.write(AuthctlCommand.fullMessage(for: error) + "\n")
        }
    }
}
