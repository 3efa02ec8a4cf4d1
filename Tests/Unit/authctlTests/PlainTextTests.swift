import Basics
import Testing

@testable import authctl

@Suite struct PlainTextTests {
    @Test func `control characters are replaced`() {
        #expect(
            PlainText.line("a\u{1B}[31m\nb\u{202E}c\u{9B}\u{7F}d") == "a\u{FFFD}[31m\u{FFFD}b\u{FFFD}c\u{FFFD}\u{FFFD}d"
        )
    }

    @Test(arguments: [0x61C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066, 0x2069] as [UInt32])
    func `characters that reverse or break a line are replaced after any character`(number: UInt32) throws {
        let scalar = String(try #require(Unicode.Scalar(number)))
        for before in ["a", "\u{D4E}", "\u{600}", "\u{1F1E6}"] {
            #expect(PlainText.line(before + scalar + "b") == before + "\u{FFFD}b")
        }
    }

    @Test func `what leaves the program keeps its lines and its own colors, and no other control character`() {
        let style = TerminalStyle(isColoured: true)
        for colour in TerminalStyle.Colour.allCases {
            let text = "a\n\(style.paint("b", colour))\n"
            #expect(PlainText.lines(text) == text)
        }
        let mark = "\u{1B}[38;5;16m"
        let foreign = "\u{1B}[8m\u{1B}]0;title\u{7}\r\u{9B}2J\u{202E}\(mark)"
        let shown = "\u{FFFD}[8m\u{FFFD}]0;title\u{FFFD}\u{FFFD}\u{FFFD}2J\u{FFFD}"
        #expect(PlainText.lines(foreign, keeping: [mark]) == shown + mark)
        #expect(PlainText.lines(mark) == "\u{FFFD}[38;5;16m")
    }

    @Test func `JSON has escapes for what a terminal would obey, and means the same`() {
        #expect(PlainText.json("{\n\"a\":\"\u{9B}2J\u{7F}\u{202E}é\"}\n") == #"{\#n"a":"\u009b2J\u007f\u202eé"}\#n"#)
    }

    @Test func `other text stays unchanged`() {
        #expect(PlainText.line("Zugriff verweigert: 許可") == "Zugriff verweigert: 許可")
    }
}
