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
        throw .unknownCommand(suggestion: Spelling.nearest(to: word, in: names), helpCommand: "\(path.text) --help")
    }
}

/// Finds what a mistyped word was meant to be.
enum Spelling {
    /// The candidate within two slips of the word, nil if there is none.
    ///
    /// Two: one swapped pair of letters counts as two changes.
    static func nearest(to word: String, in candidates: [String]) -> String? {
        // A long word is no mistyped command, and may be a secret: there is nothing to look for.
        guard word.count <= 20 else { return nil }
        let ranked = candidates.map { (name: $0, distance: distance(from: word, to: $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= 2 else { return nil }
        return best.name
    }

    /// How many letters must be added, dropped or replaced.
    static func distance(from first: String, to second: String) -> Int {
        let second = Array(second)
        var row = Array(0...second.count)
        for (line, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in second.indices {
                let replaced = diagonal + (second[column] == letter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
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
