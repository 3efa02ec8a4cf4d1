import Basics
import Testing

@testable import authctl

@Suite struct CharsetTests {
    @Test(
        arguments: [
            ([:], .utf8), (["LANG": "de_DE.UTF-8"], .utf8), (["LANG": "C.utf8"], .utf8), (["LANG": "C"], .ascii),
            (["LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"], .ascii), (["LANG": "C", "LC_CTYPE": "en_GB.UTF-8"], .utf8),
            (["LANG": "de_DE.ISO-8859-1"], .ascii),
        ] as [([String: String], Charset)]
    )
    func `the first of LC_ALL, LC_CTYPE and LANG decides`(environment: [String: String], charset: Charset) {
        #expect(Charset { environment[$0] } == charset)
    }

    @Test func `in ASCII other characters are replaced one by one`() {
        #expect(Charset.ascii.rendered("a…b ü 😀 e\u{301}") == "a...b ? ? ?")
        #expect(Charset.utf8.rendered("a…b ü") == "a…b ü")
        #expect(Charset.ascii.rendered("plain\n") == "plain\n")
    }
}
