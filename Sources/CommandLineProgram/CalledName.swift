/// The name by which people can call `authctl`, in the texts that tell them to.
///
/// Ubuntu's authd has an `authctl`, too. Where that is the one that a shell finds, "run 'authctl login work'" would be wrong advice.
package struct CalledName: Hashable, Sendable {
    package static let usual = CalledName(name: "authctl")
    /// A second name that no other project has; `systemd/files.bash` makes the link.
    package static let unmistakable = CalledName(name: "authrefreshctl")

    package let name: String

    package init(name: String) {
        self.name = name
    }

    /// The text with this program name in each command of ours: a whole word `authctl` with a command or an option behind it.
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

    /// What can stand behind the name. They are here and not in the parser's declarations, because `authimport` has no parser.
    package static let commands: Set = [
        "account", "agent", "callback", "challenge", "docker-credential", "doctor", "exec", "forward", "git-credential",
        "google-config", "google-executable", "help", "history", "import", "interface", "kube-credential", "kubeconfig",
        "login", "logout", "metrics", "provider", "refresh", "status", "store", "token",
        "version", "watch", "web-session",
    ]
}
