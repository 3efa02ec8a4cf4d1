import TestSupport
import Testing

@testable import TextEncodings

@Suite struct JSONValueTests {
    private func parse(_ text: String) throws -> JSONValue {
        try #require(JSONValue(text))
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}",
        "{,}", "[1 2]", "{\"a\" 1}", "tru",
        "truex", "nul", "01", "-", "1.", ".5", "1e", "1e+", "+1", "0x1", "NaN", "\"", "\"a", "\"\u{1}\"", "\"a\\\"",
        "1 2", "{}}",
        "'a'", "[1}", "{\"a\":1]", "\"\\q\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u123", "\u{FEFF}1", "x", "\0",
    ]) func `malformed text is refused`(text: String) {
        #expect(JSONValue(text) == nil)
    }

    @Test func `nesting and the number of values are limited`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(JSONValue(nested(64)) != nil)
        #expect(JSONValue(nested(65)) == nil)
        let members = Array(#"{"a":1,"b":[2,3]}"#.utf8)
        #expect(JSONValue(members[...], nestingMax: 2, valuesMax: 7) != nil)
        #expect(JSONValue(members[...], nestingMax: 2, valuesMax: 6) == nil)
        #expect(JSONValue(members[...], nestingMax: 1, valuesMax: 7) == nil)
    }

    @Test(arguments: ["0", "-0", "10", "1.5", "-1.25e-7", "1E5", "1e+5"]) func `numbers keep their digits`(
        text: String
    ) throws {
        #expect(try parse(" \(text)\n").numberText == text)
    }

    @Test func `integers keep all their digits`() throws {
        #expect(try parse("-9223372036854775808").integer == .min)
        #expect(try parse("9223372036854775807").integer == .max)
        #expect(try parse("9223372036854775808").integer == nil)
        #expect(try parse("1.0").integer == nil)
    }

    @Test func `members and elements come in order, with what they hold`() throws {
        let value = try parse(#"{"a":[1,[2,{"b":3}],"x"],"c":{},"d":[],"e":false}"#)
        let members = try #require(value.members)
        #expect(members.map(\.key) == ["a", "c", "d", "e"])
        let elements = try #require(members[0].value.elements)
        #expect(elements.map { $0.text } == ["1", #"[2,{"b":3}]"#, #""x""#])
        #expect(members[1].value.members?.isEmpty == true)
        #expect(members[2].value.elements?.isEmpty == true)
        #expect(members[3].value.bool == false)
    }

    @Test func `members are found at any depth, in their original form`() throws {
        let reply = try parse(#" { "a" : {"b":[1, {"c":"x"}]}, "d":null, "a\u0062":true, "a":7 } "#)
        #expect(reply["a"]?.text == #"{"b":[1, {"c":"x"}]}"#)
        #expect(reply["a"]?["b"]?.elements?[1]["c"]?.text == #""x""#)
        #expect(reply["d"]?.isNull == true)
        #expect(reply["ab"]?.bool == true)
        #expect(reply["b"] == nil)
    }

    @Test func `a value of another kind gives nothing`() throws {
        let values = try ["{}", "[]", "\"1\"", "1", "true", "null"].map { text throws in try parse(text) }
        #expect(values.map { $0.string != nil } == [false, false, true, false, false, false])
        #expect(values.map { $0.integer != nil } == [false, false, false, true, false, false])
        #expect(values.map { $0.bool != nil } == [false, false, false, false, true, false])
        #expect(values.map { $0.elements != nil } == [false, true, false, false, false, false])
        #expect(values.map { $0.members != nil } == [true, false, false, false, false, false])
        #expect(values.map { $0["a"] != nil } == [false, false, false, false, false, false])
    }

    @Test(arguments: [
        (#""""#, ""), (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e4ö""#, "äö"), (#""ö""#, "ö"),
        (#""\uD83D\ude00""#, "😀"),
        (#""\u0000""#, "\0"),
    ]) func `strings are decoded`(text: String, expected: String) throws {
        #expect(try parse(text).string == expected)
    }

    @Test(arguments: [
        #""\ud83d""#, #""\ud83dx""#, #""\ud83d\u0041""#, #""\ude00""#, #""\ud83d\n""#,
    ]) func `half a surrogate pair is no text`(text: String) throws {
        #expect(try parse(text).string == nil)
    }

    @Test func `bytes that are not UTF-8 have no text`() throws {
        #expect(try #require(JSONValue([0x22, 0xFF, 0x22][...])).string == nil)
    }

    @Test(arguments: ["", "plain", "\"\\/\n\r\t\u{1}\u{1F}\u{7F}", "ä😀\u{2028}", "\0"])
    func `a quoted string reads back`(text: String) throws {
        #expect(try parse(JSONText.quote(text)).string == text)
    }

    @Test func `an object is written without its absent members`() {
        let object = JSONText.object([("a\"", "1"), ("b", nil), ("c", JSONText.quote("x"))])
        #expect(object == #"{"a\"":1,"c":"x"}"#)
    }

    @Test func `a compact text has white space only inside strings`() throws {
        let text = "{ \"a b\" : [ 1 , \"c \\\" d\" ,\n\t\"\\\\\" ] }"
        #expect(try parse(text).compactText == "{\"a b\":[1,\"c \\\" d\",\"\\\\\"]}")
    }

    @Test(arguments: 0..<200) func `random bytes are read or refused and never crash`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("{}[]\",:\\u0123e+-.truefalsn \n".utf8) + [0, 0x1F, 0xFF]
        let bytes = (0..<60).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        guard let root = JSONValue(bytes[...], nestingMax: 8, valuesMax: 100) else { return }
        #expect(root.whole.count <= bytes.count)
    }
}
