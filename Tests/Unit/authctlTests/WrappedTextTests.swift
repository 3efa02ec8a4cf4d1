import Testing

@testable import Terminal

@Suite struct WrappedTextTests {
    @Test(
        arguments: [
            ("a note that is too long", 12, ["a note that", "  is too", "  long"]),
            // By columns: each of these characters takes two.
            ("漢字 漢字 漢字", 10, ["漢字 漢字", "  漢字"]),
            // Without a blank there is no other place than the edge.
            ("漢字漢字漢字", 8, ["漢字漢字", "  漢字"]),
            ("see https://as.example.org/a", 10, ["see", "  https://as.example.org/a"]),
            ("short", 10, ["short"]),
        ]
    )
    func `a message is wrapped at its blanks`(text: String, width: Int, lines: [String]) {
        #expect(WrappedText.message(text, width: width, indent: 2) == lines)
        #expect(WrappedText.message(text, width: nil, indent: 2) == [text])
    }

    @Test(
        arguments: [
            // It fits into a line of its own.
            ("to see why: authctl status work", 24, ["to see why:", "  authctl status work"]),
            ("'authctl status work' says why", 24, ["'authctl status work'", "  says why"]),
            ("authctl status work; or wait", 22, ["authctl status work;", "  or wait"]),
            // It does not: a shell reads the lines as one.
            ("run: journalctl --user -u authrefreshd", 24, ["run:", "  journalctl --user -u \\", "  authrefreshd"]),
            // This is no command.
            ("the versions of authctl and authrefreshd", 26, ["the versions of authctl", "  and authrefreshd"]),
            ("why: journalctl did not end in time", 26, ["why: journalctl did not", "  end in time"]),
        ]
    )
    func `a command in a message can be copied`(text: String, width: Int, lines: [String]) {
        #expect(WrappedText.message(text, width: width, indent: 2) == lines)
    }

    @Test func `a question keeps its blank, and what is indented stays whole`() {
        let text = "Use 'https://as.example' instead? [y/N] "
        #expect(WrappedText.text(text, width: 24) == "Use 'https://as.example'\ninstead? [y/N] ")
        let table = "open it\n\n  https://as.example.org/a b c\n"
        #expect(WrappedText.text(table, width: 12) == table)
        #expect(WrappedText.text(text, width: nil) == text)
    }

    @Test func `the parts of a message are its words and its commands`() {
        let text = "log in, or: loginctl enable-linger; then 'authctl doctor'."
        let parts = CommandWords.parts(of: text)
        #expect(parts.map(\.text).joined(separator: " ") == text)
        #expect(parts.filter(\.isCommand).map(\.text) == ["loginctl enable-linger;", "'authctl doctor'."])
    }
}
