import Testing
import TextEncodings

@Suite struct SpellingTests {
    @Test func `one typo of each kind is a distance of one`() {
        for word in ["tatus", "sstatus", "stitus", "sattus"] {
            #expect(Spelling.distance(from: word, to: "status") == 1)
        }
        #expect(Spelling.distance(from: "status", to: "status") == 0)
        #expect(Spelling.distance(from: "", to: "status") == 6)
        #expect(Spelling.distance(from: "stauts", to: "stat") == 2)
    }

    @Test(
        arguments: [
            ("wrok", "work"), ("hom", "home"), ("statsu", "status"), ("hdr", "header"), ("ho", "home"),
            ("xome", "home"),
            ("xyzme", nil), ("ls", nil), ("", nil), ("s", nil), ("worka", "work"), ("WORK", "work"), ("HDR", "header"),
        ] as [(String, String?)]
    )
    func `the nearest name is found`(word: String, name: String?) {
        #expect(Spelling.nearest(to: word, in: ["home", "work", "status", "header"]) == name)
    }

    @Test func `a short form that matches two names suggests nothing`() {
        #expect(Spelling.nearest(to: "hm", in: ["home", "helm"]) == nil)
        #expect(Spelling.nearest(to: "hm", in: ["home", "work"]) == "home")
    }

    @Test func `a long word has no suggestion`() {
        let name = String(repeating: "s", count: 64)
        #expect(Spelling.nearest(to: name + "s", in: [name]) == nil)
    }
}
