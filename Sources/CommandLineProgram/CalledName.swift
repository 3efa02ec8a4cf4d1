/// The name under which people can call `authctl`, for texts with commands.
///
/// Ubuntu's authd also has an `authctl`. If the shell finds that one, "run 'authctl login work'" would be wrong advice.
package struct CalledName: Hashable, Sendable {
    package static let usual = CalledName(name: "authctl")
    /// A second name that no other project uses; `systemd/files.bash` creates the link.
    package static let unmistakable = CalledName(name: "authrefreshctl")

    package let name: String

    package init(name: String) {
        self.name = name
    }

    /// Replaces the program name in each of our commands in the text: a whole word `authctl`, followed by a command or
    /// an option.
    package func inText(_ text: String) -> String {
        let usual = Self.usual.name
        guard name != usual else { return text }
        var rest = text[...]
        var result = ""
        while let range = rest.firstRange(of: usual) {
            result += rest[..<range.lowerBound]
            rest = rest[range.upperBound...]
            result += Self.isStart(after: result) && Self.isCommand(before: rest) ? name : usual
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

    /// The commands that can follow the name. They are here and not in the parser's declarations, because `authimport` has no parser.
    package static let commands: Set = [
        "account", "agent", "callback", "challenge", "docker-credential", "doctor", "exec", "forward", "git-credential",
        "google-config", "google-executable", "help", "history", "import", "interface", "kube-credential", "kubeconfig",
        "login", "logout", "metrics", "provider", "refresh", "status", "store", "token",
        "version", "watch", "web-session",
    ]
}
