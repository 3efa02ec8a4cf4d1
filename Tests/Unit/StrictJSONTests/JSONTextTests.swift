import Testing
@testable import TextEncodings

@Suite struct JSONTextTests {
    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}",
        "tru",
        "truex", "nul", "01", "-", "1.", ".5", "1e", "1e+", "+1", "0x1", "NaN", "\"", "\"a", "\"\u{1}\"", "\"a\\\"",
        "1 2", "{}}",
        "'a'", "[1}", "{\"a\":1]", "\"\\q\"", "\"\\u12\"", "\"\\u12g4\"", "\u{FEFF}1", "x", "\0",
    ]) func `malformed text is refused`(text: String) {
        #expect(throws: JSONSyntaxError.self) { _ = try JSONText(text) }
    }

    @Test func `nesting is limited`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONText(nested(JSONScanner.nestingMax))
        #expect(throws: JSONSyntaxError.self) {
            _ = try JSONText(nested(JSONScanner.nestingMax + 1))
        }
    }

    @Test func `members are found at any depth, in their original form`() throws {
        let reply = try JSONText(#" { "a" : {"b":[1, {"c":"x"}]}, "d":null, "a\u0062":true } "#)
        #expect(reply["a"]?.text == #"{"b":[1, {"c":"x"}]}"#)
        #expect(reply["a"]?["b"]?.elements?[1]["c"]?.string == "x")
        #expect(reply["d"]?.isNull == true)
        #expect(reply["ab"]?.bool == true)
        #expect(reply["b"] == nil)
        #expect(reply.members?.map(\.name) == ["a", "d", "ab"])
    }

    @Test func `a value of another kind gives nothing`() throws {
        let values = try ["{}", "[]", "\"1\"", "1", "true", "null"].map { text throws in try JSONText(text) }
        #expect(values.map { $0.string != nil } == [false, false, true, false, false, false])
        #expect(values.map { $0.integer != nil } == [false, false, false, true, false, false])
        #expect(values.map { $0.number != nil } == [false, false, false, true, false, false])
        #expect(values.map { $0.bool != nil } == [false, false, false, false, true, false])
        #expect(values.map { $0.elements != nil } == [false, true, false, false, false, false])
        #expect(values.map { $0.members != nil } == [true, false, false, false, false, false])
        #expect(values.map { $0["a"] != nil } == [false, false, false, false, false, false])
    }

    @Test(arguments: [
        (#""""#, ""), (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e4ö""#, "äö"),
        (#""\uD83D\ude00""#, "😀"),
        (#""\u0000""#, "\0"),
    ]) func `strings are decoded`(text: String, expected: String) throws {
        #expect(try JSONText(text).string == expected)
    }

    @Test(arguments: [#""\ud83d""#, #""\ud83dx""#, #""\ud83d\u0041""#, #""\ude00""#, #""\ud83d\n""#])
    func `half a surrogate pair is not a string`(text: String) throws {
        #expect(try JSONText(text).string == nil)
    }

    @Test func `bytes that are not UTF-8 are not a string`() throws {
        #expect(try JSONText([0x22, 0xFF, 0x22][...]).string == nil)
    }

    @Test func `integers keep all their digits`() throws {
        #expect(try JSONText("-9223372036854775808").integer == .min)
        #expect(try JSONText("9223372036854775807").integer == .max)
        #expect(try JSONText("9223372036854775808").integer == nil)
        #expect(try JSONText("1.0").integer == nil)
        #expect(try JSONText("-1.5e1").number == -15)
    }

    @Test(arguments: ["", "plain", "\"\\/\n\r\t\u{1}\u{1F}\u{7F}", "ä😀\u{2028}", "\0"])
    func `a quoted string reads back`(text: String) throws {
        #expect(try JSONText(JSONText.quote(text)).string == text)
    }

    @Test func `an object is written without its absent members`() {
        let object = JSONText.object([("a\"", "1"), ("b", nil), ("c", JSONText.quote("x"))])
        #expect(object == #"{"a\"":1,"c":"x"}"#)
    }

    @Test func `the offset of the first bad byte is reported`() {
        #expect(throws: JSONSyntaxError(offset: 6)) {
            _ = try JSONText(#"{"a": x}"#)
        }
    }

    @Test func `a compact text has white space only inside strings`() throws {
        let text = "{ \"a b\" : [ 1 , \"c \\\" d\" ,\n\t\"\\\\\" ] }"
        #expect(try JSONText(text).compactText == "{\"a b\":[1,\"c \\\" d\",\"\\\\\"]}")
    }
}
