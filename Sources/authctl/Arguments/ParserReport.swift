internal import ArgumentParser
internal import Basics
internal import TextEncodings

/// Checks the arguments before the parser does, and gives the parser's messages the format of all our messages.
enum ParserReport {
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
        let path = CommandPath(in: words)
        guard !path.names.isEmpty, words.count > path.words.count else { return }
        let word = words[path.words.count]
        guard !word.hasPrefix("-") else { return }
        throw .usage(
            "no command has this name",
            hint: path.suggestion(for: word).map { "did you mean '\($0)'?" }
                ?? "see '\(Command(words: path.words + ["--help"]))'"
        )
    }

    /// Prints the requested help or version, or a completion script.
    ///
    /// - Throws: `usage` if the arguments were wrong.
    static func end(with error: any Error, arguments: [String]) throws(Report) {
        guard AuthctlCommand.exitCode(for: error) != .success else {
            let text = AuthctlCommand.fullMessage(for: error)
            return try StandardOutput.write(text.hasSuffix("\n") ? text : text + "\n")
        }
        let text = AuthctlCommand.message(for: error)
        let message = oneLine(text)
        let help = Command(words: CommandPath(in: arguments).words + ["--help"])
        throw .usage(
            hideValues(of: arguments, in: message.isEmpty ? "wrong arguments" : message.lowercasedFirst),
            hint: suggestion(for: arguments, by: text) ?? "see '\(help)'"
        )
    }

    /// A suggestion for an invalid option value. The parser lists the valid values, either quoted or one per line.
    ///
    /// For an unknown option the parser makes suggestions itself, but does not suggest its own two options.
    private static func suggestion(for arguments: [String], by message: String) -> Hint? {
        if message.hasPrefix("Unknown option"), !message.contains("Did you mean") {
            let meant = arguments.lazy.compactMap { Spelling.nearest(to: $0, in: ["--help", "--version"]) }
            return meant.first.map { "did you mean '\($0)'?" }
        }
        guard let list = message.firstRange(of: "Please provide one of")?.upperBound else { return nil }
        let values = message[list...].matches(of: #/'([^']+)'|\n *- ([^\n]+)/#).map { String($0.1 ?? $0.2 ?? "") }
        for argument in arguments {
            let (name, value) = split(argument)
            if let near = Spelling.nearest(to: value ?? name, in: values) { return "did you mean '\(near)'?" }
        }
        return nil
    }

    /// The parser's message on one line. Its list of valid values has one line for each.
    static func oneLine(_ message: String) -> String {
        let lines = message.split(separator: "\n")
        let items = lines.dropFirst().map { $0.trimmingPrefix(/[ -]+/) }
        return (lines.first.map(String.init) ?? "") + (items.isEmpty ? "" : " " + items.joined(separator: ", "))
    }

    /// The message without what the user typed, because that may be a secret in the wrong place.
    ///
    /// Option names stay. All other arguments become "…".
    static func hideValues(of arguments: [String], in message: String) -> String {
        var hidden = message
        for argument in arguments.sorted(by: { $0.count > $1.count }) where !argument.isEmpty {
            let (name, value) = split(argument)
            if !isOptionName(name) {
                hidden = replace("'\(argument)'", in: hidden)
                hidden = replace("'\(name)'", in: hidden)
            }
            if let value, !value.isEmpty { hidden = replace("'\(value)'", in: hidden) }
        }
        return hidden
    }

    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }

    /// Whether the text looks like one of our options: one letter, or two dashes and lower-case words.
    private static func isOptionName(_ text: String) -> Bool {
        guard text.hasPrefix("-"), text.count <= 32 else { return false }
        guard text.hasPrefix("--") else { return text.count == 2 }
        return text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }

    private static func replace(_ text: String, in message: String) -> String {
        var rest = message[...]
        var result = ""
        while let range = rest.firstRange(of: text) {
            result += rest[..<range.lowerBound] + "'…'"
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

extension TokenFormat: ExpressibleByArgument {}

extension SignInFlow: ExpressibleByArgument {}

extension GrantOption: ExpressibleByArgument {}

extension TokenTypeOption: ExpressibleByArgument {}

extension LengthOfTime: ExpressibleByArgument {
    init?(argument: String) {
        self.init(argument)
    }

    /// The time of an option that ends a grant. It needs a unit: who writes 8 means hours or days, and eight seconds
    /// would sign the account out at once.
    ///
    /// - Throws: `ValidationError`.
    static func withUnit(_ text: String) throws -> LengthOfTime {
        guard let length = LengthOfTime(text), text.last?.isNumber == false else {
            throw ValidationError("write the time with its unit, such as 45m, 8h or 30d")
        }
        return length
    }
}

/// The command in the arguments.
struct CommandPath {
    private var command: any ParsableCommand.Type = AuthctlCommand.self
    /// The command's words after `authctl`.
    private(set) var words: [String] = []

    /// Finds the command at the start of the arguments.
    init(in arguments: [String]) {
        for argument in arguments {
            let next = command.configuration.subcommands.first { $0.configuration.commandName == argument }
            guard let next else { return }
            command = next
            words.append(argument)
        }
    }

    /// The names of its subcommands.
    var names: [String] {
        command.configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// Other programs' names for our commands.
    private static let otherNames = [
        "ls": "list", "rm": "remove", "delete": "remove", "mv": "rename", "new": "add", "set": "edit", "info": "show",
        "signin": "login", "sign-in": "login", "signout": "logout", "sign-out": "logout", "renew": "refresh",
    ]

    /// The command that the unknown `word` probably means, such as `authctl account list`; nil if that cannot be
    /// guessed.
    func suggestion(for word: String) -> Command? {
        let name = Self.otherNames[word] ?? word
        if names.contains(name) { return Command(words: words + [name]) }
        // Look one level further down. If several groups have the word, the first group is meant: "list" means the list
        // of accounts.
        let groups = command.configuration.subcommands.map { group in
            (
                words: words + [group.configuration.commandName ?? ""],
                names: group.configuration.subcommands.compactMap { $0.configuration.commandName }
            )
        }
        if let group = groups.first(where: { $0.names.contains(name) }) { return Command(words: group.words + [name]) }
        if let near = Spelling.nearest(to: word, in: names) { return Command(words: words + [near]) }
        for group in groups {
            if let near = Spelling.nearest(to: word, in: group.names) { return Command(words: group.words + [near]) }
        }
        return nil
    }
}
