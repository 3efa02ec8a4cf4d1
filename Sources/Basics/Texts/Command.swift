internal import TextEncodings

/// A command that a text tells people to type. As a value it keeps its place in the text: nobody looks for it there.
package struct Command: Hashable, Sendable {
    /// The program's name; nil for `authctl`, whose name depends on the machine.
    private let program: String?
    /// What follows the name as a shell reads it: empty, or it begins with a blank.
    private let arguments: String

    /// A command of ours: `Command("login", account)`.
    ///
    /// - Parameter path: a last word that is always quoted, as people expect it of paths.
    package init(_ words: String..., path: String? = nil) {
        self.init(of: nil, words, path)
    }

    /// A command of ours whose words are collected somewhere else.
    package init(words: [String]) {
        self.init(of: nil, words, nil)
    }

    /// A command of another program: `Command(program: "systemctl", "--user", "daemon-reload")`.
    ///
    /// - Parameter path: as above.
    package init(program: String, _ words: String..., path: String? = nil) {
        self.init(of: program, words, path)
    }

    /// A command of another program whose words, with its name, are collected somewhere else.
    package init(programWords words: [String]) {
        self.init(of: words.first ?? "", Array(words.dropFirst()), nil)
    }

    /// A command that another process has written, as it stands in its text.
    package init(verbatim text: String) {
        let usual = InvokedAs.usual.name
        let isOurs = text == usual || text.hasPrefix(usual + " ")
        program = isOurs ? nil : ""
        arguments = isOurs ? String(text.dropFirst(usual.count)) : text
    }

    private init(of program: String?, _ words: [String], _ path: String?) {
        self.program = program
        let words = words.map(ShellWord.quotedIfNeeded) + (path.map { [ShellWord.quoted($0)] } ?? [])
        arguments = words.map { " " + $0 }.joined()
    }

    /// The command as a shell reads it. There is no default name: a text has to say whose eyes it is for.
    package func text(by called: InvokedAs) -> String {
        (program ?? called.name) + arguments
    }
}
