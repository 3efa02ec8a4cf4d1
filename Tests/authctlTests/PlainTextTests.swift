import Testing

@testable import authctl

@Suite struct PlainTextTests {
    @Test func `characters that steer a terminal are replaced`() {
        #expect(
            PlainText.line("a\u{1B}[31m\nb\u{202E}c\u{9B}\u{7F}d") == "a\u{FFFD}[31m\u{FFFD}b\u{FFFD}c\u{FFFD}\u{FFFD}d"
        )
    }

    @Test func `other text stays`() {
        #expect(PlainText.line("Zugriff verweigert: 許可") == "Zugriff verweigert: 許可")
    }
}
