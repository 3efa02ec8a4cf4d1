internal import ArgumentParser
internal import Basics
internal import Glibc

/// Checks the arguments before the parser does.
enum ArgumentCheck {
    /// Options whose value would be a secret. They do not exist; each is refused with advice.
    static let secretOptions: Set<String> = [
        "--client-secret", "--refresh-token", "--access-token", "--secret", "--password", "--passphrase", "--token",
        "--client-assertion", "--code",
    ]

    /// Checks the arguments.
    ///
    /// - Throws: `secretAsArgument`; `usage` for an unknown command.
    static func check(_ arguments: [String]) throws(Report) {
        for argument in arguments.prefix(while: { $0 != "--" }) {
            let name = String(argument.prefix { $0 != "=" })
            if secretOptions.contains(name.lowercased()) {
                throw .secretAsArgument(name.lowercased())
            }
        }
        try checkCommand(arguments)
    }

    private static func checkCommand(_ arguments: [String]) throws(Report) {
        // The arguments of `help` are the words of a command.
        let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
        let (path, depth) = CommandPath.find(in: words)
        let names = path.names
        guard !names.isEmpty, words.count > depth else { return }
        let word = words[depth]
        guard !word.hasPrefix("-") else { return }
        throw .usage(
            "no command has this name",
            hint: path.suggestion(for: word).map { "did you mean '\($0)'?" }
                ?? "see '\(Command(words: path.words + ["--help"]))'"
        )
    }
}

/// The arguments of this process.
enum ProgramArguments {
    /// All arguments without the program's name. Invalid UTF-8 is repaired, as in `CommandLine.arguments`.
    ///
    /// `CommandLine.arguments` itself is not used, because it makes the Swift runtime build the type of its array. That
    /// takes a tenth of the time of the whole hot path.
    static var all: [String] {
        let count = max(0, Int(CommandLine.argc) - 1)
        // For an array that grows, the type would be built as well.
        return unsafe [String](unsafeUninitializedCapacity: count) { place, filled in
            while filled < count, let argument = unsafe CommandLine.unsafeArgv[filled + 1] {
                unsafe place.initializeElement(at: filled, to: String(cString: argument))
                filled += 1
            }
        }
    }

    /// Overwrites the arguments, which every user of this machine can read (proc(5)), before this program waits.
    ///
    /// A desktop entry can pass an address only as an argument, so whoever called us has already shown it for a moment.
    static func wipe() {
        // Later code looks this up in the arguments.
        _ = StandardError.isJSON
        for index in 1..<Int(CommandLine.argc) {
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return }
            unsafe memset(argument, Int32(UInt8(ascii: "x")), strlen(argument))
        }
    }
}

extension Report {
    /// A secret was typed as an argument.
    ///
    /// - Parameter option: the option's name without its value.
    static func secretAsArgument(_ option: String) -> Report {
        let hint: Hint =
            switch option {
            case "--client-secret": "--client-secret-file FILE, or '-' to be asked"
            case "--refresh-token": "--refresh-token-file FILE, or '-' to be asked"
            default: "--client-secret-file and --refresh-token-file take a file, or '-' to be asked"
            }
        return Report(
            status: .usage,
            name: "authctl.SecretAsArgument",
            message: "'\(option)' would show a secret to every process on this machine",
            hints: [hint, "if you typed a secret, replace it: others may have read it, and your shell has kept it"]
        )
    }
}
