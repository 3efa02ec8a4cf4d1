internal import ArgumentParser
internal import Glibc

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
        throw .unknownCommand(suggestion: path.suggestion(for: word), helpCommand: "\(path.text) --help")
    }
}

/// What the program was called with.
enum ProgramArguments {
    /// Without the program's name. What is no UTF-8 is repaired, as `CommandLine.arguments` does it.
    ///
    /// That would be the place to take them from, but it has the Swift runtime make up the type of its array, which takes as
    /// long as a tenth of the whole hot path.
    static var all: [String] {
        let count = max(0, Int(CommandLine.argc) - 1)
        // An array that grows would have it made up, too.
        return unsafe [String](unsafeUninitializedCapacity: count) { place, filled in
            while filled < count, let argument = unsafe CommandLine.unsafeArgv[filled + 1] {
                unsafe place.initializeElement(at: filled, to: String(cString: argument))
                filled += 1
            }
        }
    }

    /// Takes the arguments from where every user of this machine can read them (proc(5)), for as long as this program waits.
    ///
    /// A desktop entry has no other way to hand an address on, and those who called us have shown it already, for a moment.
    static func wipe() {
        // What is looked up in them later.
        _ = StandardError.isJSON
        for index in 1..<Int(CommandLine.argc) {
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return }
            unsafe memset(argument, Int32(UInt8(ascii: "x")), strlen(argument))
        }
    }
}
