/// The name by which people can call this program, in the texts that tell them to.
///
/// Ubuntu's authd has an `authctl`, too. Where that is the one that a shell finds, "run 'authctl login work'" would be wrong advice.
enum CalledName {
    private static let usual = "authctl"
    /// A second name that no other project has; `systemd/files.bash` makes the link.
    private static let unmistakable = "authrefreshctl"

    /// Looked up only when there is something to tell.
    private static let here = choose(by: .real)

    /// The text, with the commands in it under the name that they have here.
    static func inText(_ text: String) -> String {
        here == usual || text.isEmpty ? text : rename(text, to: here)
    }

    /// - Returns: `authrefreshctl` if a shell finds this program by that name, and not by `authctl`.
    static func choose(by surroundings: Surroundings) -> String {
        func finds(_ name: String) -> Bool {
            surroundings.program(named: name).map(surroundings.target) == surroundings.program
        }
        return !finds(usual) && finds(unmistakable) ? unmistakable : usual
    }

    /// Gives each command of ours in the text another program name: a whole word `authctl` with a command or an option behind it.
    static func rename(_ text: String, to name: String) -> String {
        var rest = text[...]
        var result = ""
        while let range = rest.firstRange(of: usual) {
            result += rest[..<range.lowerBound]
            rest = rest[range.upperBound...]
            result += isStart(after: result) && isCommand(before: rest) ? name : usual
        }
        return result + rest
    }

    private static func isStart(after text: String) -> Bool {
        guard let last = text.last else { return true }
        return !(last.isLetter || last.isNumber || "-_./".contains(last))
    }

    private static func isCommand(before rest: Substring) -> Bool {
        guard rest.first == " " else { return false }
        let word = rest.dropFirst().prefix { $0.isLetter || $0 == "-" }
        return word.hasPrefix("--") || commands.contains(String(word))
    }

    private static let commands = Set(CommandPath().names).union(["help"])
}
