/// The name under which people can call this program, for texts with commands.
///
/// Ubuntu's authd also has an `authctl`. If the shell finds that one, "run 'authctl login work'" would be wrong advice.
enum CalledName {
    private static let usual = "authctl"
    /// A second name that no other project uses; `systemd/files.bash` creates the link.
    private static let unmistakable = "authrefreshctl"

    /// Determined only when there is a text to show.
    private static let here = choose(by: .real)

    /// The text, with its commands under the name that they have here.
    static func inText(_ text: String) -> String {
        here == usual || text.isEmpty ? text : rename(text, to: here)
    }

    /// Chooses the name.
    ///
    /// - Returns: `authrefreshctl` if a shell finds this program under that name, and not as `authctl`.
    static func choose(by surroundings: Surroundings) -> String {
        func finds(_ name: String) -> Bool {
            surroundings.program(named: name).map(surroundings.target) == surroundings.program
        }
        return !finds(usual) && finds(unmistakable) ? unmistakable : usual
    }

    /// Replaces the program name in each of our commands in the text: a whole word `authctl`, followed by a command or
    /// an option.
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
