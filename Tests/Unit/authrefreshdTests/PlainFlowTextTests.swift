import Testing
import Varlink
import Yams

@testable import authrefreshd

/// Text in brackets from callers.
struct PlainFlowTextTests {
    /// Each level names the one before ten times. With more levels, no memory would be enough.
    private static let bomb =
        "{a: [&a [1,1,1,1,1,1,1,1,1,1], &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]], ? *b : x}"

    @Test(arguments: [
        "[]", "{}", "[openid, offline_access]", "{Origin: \"http://localhost\"}",
        "{access_type: offline, prompt: consent}",
        "[\"*/*\", '&a', 'it''s', \"a \\\" & b\"]", "{\"a\":\"b\",'c':'d'}", "[[a, b], {c: [d]}]",
        "[a:b, https://as.example/x]",
        "[ü, 日本] ",
    ])
    func `lists and mappings of texts are plain, and YAML composes them`(text: String) throws {
        #expect(PlainFlowText.isPlain(text))
        #expect(try Yams.compose(yaml: text) != nil)
    }

    @Test(arguments: [
        bomb, "[&a b]", "[*a]", "[!!str a]", "{? a : b}", "{[a]: b}", "{{a: b} : c}", "[a\n]", "[a, # 'b\n, &c d, ']",
        // Quotes that YAML regards as part of the text hide nothing.
        "[it's, &a b, 's]", "[a:'b, &c d, ']", "{a:'b, &c d, ': e}", "['a' 'b']", "[a, \u{85}'b]",
        "[[[[[a]]]]]", "[a", "a]", "[a]]", "[a] b", "[a][b]", "['a", "a", "",
    ])
    func `text that YAML could expand is not plain`(text: String) {
        #expect(!PlainFlowText.isPlain(text))
    }

    @Test func `an account setting with a YAML bomb is refused at once`() {
        let error = #expect(throws: VarlinkError.self) {
            try ProviderProfiles().profile(nil, with: ["headers": Self.bomb])
        }
        let reason = error.map { String(decoding: $0.parameters, as: UTF8.self) } ?? ""
        #expect(reason.contains("headers") && reason.contains("quotes around them"), "\(reason)")
    }
}
