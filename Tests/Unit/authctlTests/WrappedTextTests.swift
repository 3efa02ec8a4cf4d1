@testable import Basics
import Testing

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
        #expect(WrappedText.message(Hint(text), by: .usual, width: width, indent: 2) == lines)
        #expect(WrappedText.message(Hint(text), by: .usual, width: nil, indent: 2) == [text])
    }

    private static let status = Command("status", "work")

    @Test(
        arguments: [
            // It fits into a line of its own.
            ("to see why: \(status)", 24, ["to see why:", "  authctl status work"]),
            ("'\(status)' says why", 24, ["'authctl status work'", "  says why"]),
            ("\(status); or wait", 22, ["authctl status work;", "  or wait"]),
            // It does not: a shell reads the lines as one.
            (
                "run: \(Command(program: "journalctl", "--user", "-u", "authrefreshd"))", 24,
                ["run:", "  journalctl --user -u \\", "  authrefreshd"]
            ),
            // This is prose.
            ("the versions of authctl status", 26, ["the versions of authctl", "  status"]),
        ] as [(Hint, Int, [String])]
    )
    func `a command in a message can be copied`(text: Hint, width: Int, lines: [String]) {
        #expect(WrappedText.message(text, by: .usual, width: width, indent: 2) == lines)
    }

    @Test func `a wrapped command has the name by which the program is called, and no control characters`() {
        let lines = WrappedText.message("see: \(Command("status", "a\u{1B}"))", by: .unmistakable, width: 10)
        #expect(lines == ["see:", "authrefreshctl \\", "status \\", "a\u{FFFD}"])
    }

    @Test func `a question keeps its blank, and what is indented stays whole`() {
        let text = "Use 'https://as.example' instead? [y/N] "
        #expect(WrappedText.text(text, width: 24) == "Use 'https://as.example'\ninstead? [y/N] ")
        let table = "open it\n\n  https://as.example.org/a b c\n"
        #expect(WrappedText.text(table, width: 12) == table)
        #expect(WrappedText.text(text, width: nil) == text)
    }
}
