import TestSupport
import Testing

@testable import TextEncodings

@Suite struct JSONDocumentTests {
    private func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue {
        try JSONDocument(Array(text.utf8), nestingMax: 8, valuesMax: 100).root
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}",
        "tru",
        "truex", "nul", "01", "-", "1.", ".5", "1e", "1e+", "+1", "0x1", "NaN", "\"", "\"a", "\"\u{1}\"", "\"a\\\"",
        "1 2", "{}}",
        "'a'", "[1}", "{\"a\":1]", "\u{FEFF}1", "[[[[[[[[[1]]]]]]]]]",
    ]) func `malformed text is refused`(text: String) {
        #expect(throws: JSONSyntaxError.self) { try parse(text) }
    }

    @Test(arguments: ["0", "-0", "10", "1.5", "-1.25e-7", "1E5", "1e+5"]) func `numbers keep their digits`(
        text: String
    ) throws {
        #expect(try parse(" \(text)\n").numberText == text)
    }

    @Test func `members and elements come in order, with what they hold`() throws {
        let value = try parse(#"{"a":[1,[2,{"b":3}],"x"],"c":{},"d":[],"e":false}"#)
        let members = try #require(value.members)
        #expect(members.map(\.key) == ["a", "c", "d", "e"])
        let elements = try #require(members[0].value.elements)
        #expect(elements.map { String(decoding: $0.raw, as: UTF8.self) } == ["1", #"[2,{"b":3}]"#, "x"])
        #expect(members[1].value.members?.isEmpty == true)
        #expect(members[2].value.elements?.isEmpty == true)
        #expect(members[3].value.bool == false)
    }

    @Test func `a string that is not UTF-8 has no text`() throws {
        let value = try JSONDocument([0x22, 0xFF, 0x22], nestingMax: 8, valuesMax: 100).root
        #expect(value.string == nil)
    }

    @Test func `the offset of the first bad byte is reported`() {
        #expect(throws: JSONSyntaxError(offset: 6)) { try parse(#"{"a": x}"#) }
    }

    @Test(arguments: 0..<200) func `random bytes are read or refused and never crash`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("{}[]\",:\\u0123e+-.truefalsn \n".utf8) + [0, 0x1F, 0xFF]
        let bytes = (0..<60).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        guard let root = try? JSONDocument(bytes, nestingMax: 8, valuesMax: 100).root else { return }
        #expect(root.raw.count <= bytes.count)
    }
}
