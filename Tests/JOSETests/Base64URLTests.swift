import Testing

@testable import JOSE

@Suite struct Base64URLTests {
    @Test func `bytes come back from their text`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
    }

    @Test(arguments: ["A", "AAAAA", "AA==", "AA=", "A A", "AA\n", "A+AA", "A/AA", "AB", "AAB", "AÄ", "AA.A"])
    func `a second spelling of the same bytes is refused`(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}
