import Testing

@testable import authctl

@Suite struct SpellingTests {
    @Test func `one slip of each kind is a distance of one`() {
        for word in ["tatus", "sstatus", "stitus"] { #expect(Spelling.distance(from: word, to: "status") == 1) }
        #expect(Spelling.distance(from: "status", to: "status") == 0)
        #expect(Spelling.distance(from: "", to: "status") == 6)
    }

    @Test func `a long word has no suggestion`() {
        #expect(Spelling.nearest(to: String(repeating: "s", count: 21), in: ["s"]) == nil)
    }
}
