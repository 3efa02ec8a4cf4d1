import Foundation
import Testing
import TextEncodings

@Suite struct Base64URLTests {
    @Test func `bytes survive encoding and decoding`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == "A-z_4ME")
    }

    @Test(arguments: ["A", "AAAAA", "AA==", "AA=", "A A", "AA\n", "A+AA", "A/AA", "AB", "AAB", "AÄ", "AA.A"])
    func `a second encoding of the same bytes is refused`(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}

@Suite struct Base64Tests {
    @Test func `every length of a group is encoded as Foundation does it`() {
        let text = "f\u{1}oobar\u{FF}ü~?>>"
        for count in 0...text.count {
            let part = String(text.prefix(count))
            #expect(Base64.encode(part) == Data(part.utf8).base64EncodedString())
        }
    }
}
