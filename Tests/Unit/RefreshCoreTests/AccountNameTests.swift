import RefreshCore
import Testing

@Suite struct AccountNameTests {
    @Test(arguments: ["a", "work", "me@example.org", "a+b-c_d.e", "7", "@", "_", String(repeating: "x", count: 64)])
    func `a plain name is accepted unchanged`(text: String) {
        #expect(AccountName(text)?.text == text)
    }

    @Test(
        arguments: [
            "", "-a", ".a", "a b", "a/b", "a\n", "a\0", "a:b", "$a", "é", "a\u{301}", "../a",
            String(repeating: "x", count: 65),
        ]
    )
    func `a name that would need quoting is refused`(text: String) {
        #expect(AccountName(text) == nil)
    }

    @Test func `names are ordered by their text`() throws {
        let names = try ["b", "a", "B"].map { try #require(AccountName($0)) }
        #expect(names.sorted().map(\.text) == ["B", "a", "b"])
    }
}
