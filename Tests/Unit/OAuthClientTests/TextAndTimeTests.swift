import RefreshCore
import Testing

@testable import OAuthMessages

struct TextAndTimeTests {
    @Test func `a Retry-After date without Date counts from our clock`() {
        let headers: HeaderFields = ["retry-after": "Sat, 21 Nov 2026 10:01:00 GMT"]
        let answer = Answer(status: 503, headers: headers, body: [])
        #expect(answer.retryAfter(now: Timestamp(microseconds: 1_795_255_200_000_000)) == .seconds(60))
        #expect(answer.retryAfter(now: Timestamp(microseconds: 1_795_255_300_000_000)) == nil)
    }

    @Test func `headers are found in any case, with each value as it was sent`() {
        let headers: HeaderFields = ["DPoP-Nonce": "a, b", "Date": "now", "dpop-nonce": "c"]
        #expect(headers["dpop-nonce"] == ["a, b", "c"])
        #expect(headers.first(name: "DATE") == "now")
        #expect(headers.contains(name: "date") && !headers.contains(name: "dat"))
        #expect(headers["dpop_nonce"].isEmpty && headers.first(name: "age") == nil)
        // Case is ignored for letters only: @ does not equal `, and [ does not equal {, although only bit 5 differs.
        #expect(!HeaderFields([(name: "@[", value: "x")]).contains(name: "`{"))
    }

    @Test func `a server's text is cut to 200 characters, and characters that could forge a line are removed`() {
        #expect(FailureText.clean("a\u{1b}[31m\r\nb\u{202e}c\u{2028}d\u{0}", hiding: []) == "a [31m b c d")
        #expect(FailureText.clean(String(repeating: "x", count: 100_000), hiding: [])?.count == 200)
        #expect(FailureText.clean(" \n ", hiding: []) == nil)
        #expect(FailureText.clean(nil, hiding: []) == nil)
        let identifier = "2c3caa80-cd1d-4e3a-96b3-0e0a3a0b6cf5"
        let policy = "AADSTS53003: " + String(repeating: "blocked ", count: 40)
        let kept = FailureText.clean("\(policy)\r\nCorrelation ID: \(identifier)\r\nTimestamp: x", hiding: [])
        #expect(kept?.hasSuffix("… Correlation ID: \(identifier)") == true && kept?.count == 200)
        let short = "AADSTS53003: no Correlation ID: \(identifier) Timestamp: x"
        #expect(FailureText.clean(short, hiding: []) == short)
        #expect(FailureText.clean("grün ✓", hiding: []) == "grün ✓")
    }

    @Test func `a secret is removed wherever it is, also across the cut`() {
        let secret = Secret("hunter22")
        let text = "hunter22hunter22 a hunter22"
        #expect(FailureText.clean(text, hiding: [secret]) == "<redacted><redacted> a <redacted>")
        let long = String(repeating: "x", count: 198) + "hunter22"
        #expect(FailureText.clean(long, hiding: [secret])?.contains("hu") == false)
        #expect(FailureText.clean("x", hiding: [Secret(""), secret]) == "x")
    }

    /// A gap in an ordinary word would tell the secret: "inv<redacted>lid gr<redacted>nt".
    @Test func `a text with a short secret as a word is not shown, and ordinary words have no gaps`() {
        for text in ["client_secret=app", "app", "the secret 'app' is wrong", "no such app", "(app)", "app: unknown"] {
            #expect(FailureText.clean(text, hiding: [Secret("app")]) == "<redacted>", "\(text)")
        }
        for text in ["invalid_grant", "the application is unknown", "apps", "snapp", "my_app_1", "äpp appä"] {
            #expect(FailureText.clean(text, hiding: [Secret("app")]) == text, "\(text)")
            #expect(FailureText.clean(text, hiding: [Secret("a")]) == text, "\(text)")
        }
        #expect(FailureText.clean("hunter2 has seven bytes", hiding: [Secret("hunter2")]) == "<redacted>")
        #expect(FailureText.clean("x hunter22", hiding: [Secret("x"), Secret("hunter22")]) == "<redacted>")
    }

    @Test func `JSON nested deeper than the limit is refused; brackets in strings do not count`() {
        let nested = { (depth: Int) in
            Array((#"{"x":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}").utf8)
        }
        #expect(JSONTree.object(in: nested(JSONTree.depthLimit - 1)) != nil)
        #expect(JSONTree.object(in: nested(JSONTree.depthLimit)) == nil)
        let text = String(repeating: #"[{\""#, count: 1000)
        #expect(JSONTree.object(in: Array(#"{"x":"\#(text)"}"#.utf8)) != nil)
    }

    @Test func `every form of JSON is read`() throws {
        let text =
            #" {"a":[1,-0.5,2e3,[] ,{}],"b":true,"c":false,"d":null,"e":"\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00","f":1e999} "#
        let fields = try #require(JSONTree.object(in: Array(text.utf8)))
        #expect(fields["a"] == .array([.number(1), .number(-0.5), .number(2000), .array([]), .object([:])]))
        #expect(fields["b"] == .boolean(true))
        #expect(fields["c"] == .boolean(false))
        #expect(fields["d"] == .null)
        #expect(fields["e"] == .string("\"\\/\u{8}\u{c}\n\r\tä😀"))
        #expect(fields["f"] == .null)
    }

    @Test func `a name that occurs twice keeps its last value that is not null`() {
        #expect(JSONTree.object(in: Array(#"{"a":1,"a":2,"a":null}"#.utf8)) == ["a": .number(2)])
        #expect(JSONTree.object(in: Array(#"{"a":null,"a":2}"#.utf8)) == ["a": .number(2)])
    }

    @Test func `invalid bytes and escapes do not make the rest of an answer unreadable`() {
        let text = Array(#"{"a":""#.utf8) + [0xFF] + Array(#"\ud83d","b":"\udc00\ud83dx\ud83d\u0041"}"#.utf8)
        #expect(JSONTree.object(inAnswer: text) == ["a": .string("\u{FFFD}\u{FFFD}"), "b": .string("��x�A")])
        #expect(JSONTree.object(in: text) == nil)
    }

    @Test(arguments: [
        (#"{"a":"it\'s \x\é"}"#, "it's xé"), (#"{"a":"\u12g4\ud83d\u1"}"#, "u12g4\u{FFFD}u1"),
        ("{\"a\":\"one\ttwo\nthree\0\"}", "one\ttwo\nthree\0"), (#"{"a":"x"}<!-- 3 ms -->"#, "x"),
        ("{\"a\":\"x\"}\0", "x"), (#"{"a":"x"}{"a":"y"}"#, "x"),
    ])
    func `faults that hide no value do not make an answer unreadable`(text: String, value: String) {
        #expect(JSONTree.object(inAnswer: Array(text.utf8)) == ["a": .string(value)])
        #expect(JSONTree.object(in: Array(text.utf8)) == nil)
    }

    @Test(
        arguments: [
            ("+3600", .number(3600)), (".5", .number(0.5)), ("3600.", .number(3600)), ("-.5e1", .number(-5)),
            ("0003600", .string("0003600")), ("0", .number(0)), ("12345678901234567", .string("12345678901234567")),
            ("NaN", .null), ("-Infinity", .null), ("undefined", .null), ("1e999", .null),
        ] as [(String, JSONTree)]
    )
    func `a number that JSON forbids does not make an answer unreadable`(text: String, value: JSONTree) {
        #expect(
            JSONTree.object(inAnswer: Array(#"{"a":\#(text),"b":[\#(text)]}"#.utf8)) == [
                "a": value, "b": .array([value]),
            ]
        )
    }

    @Test(arguments: [
        "", "{", "[]", "1", "x{}", #"{"a":}"#, #"{"a":+-,,}"#, #"{"a"}"#, #"{"a":1,}"#, "{a:1}", #"{"a":tru}"#,
        #"{"a":"x}"#, #"{"a":"x\"}"#,
        "{'a':1}", "<html>{}", "null{}",
    ])
    func `an answer that does not begin with a JSON object is refused`(text: String) {
        #expect(JSONTree.object(inAnswer: Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        "", "{", "{}x", "[]", "1", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,}"#, #"{a:1}"#, #"{"a":01}"#, #"{"a":1.}"#,
        #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":+1}"#, #"{"a":tru}"#, #"{"a":[1,]}"#, #"{"a":"x}"#, #"{"a":"\x"}"#,
        #"{"a":"\u12g4"}"#, "{\"a\":\"\n\"}", "{'a':1}", "{\"a\":1}\0",
    ])
    func `text that is not a JSON object is refused`(text: String) {
        #expect(JSONTree.object(in: Array(text.utf8)) == nil)
    }

    @Test func `a truncated answer is never accepted as complete`() {
        let whole = Array(#"{"access_token":"a\u00e4","expires_in":3600.5e0,"x":[true,null,{"y":"z"}]}"#.utf8)
        #expect(JSONTree.object(inAnswer: whole) != nil)
        for length in 0..<whole.count {
            #expect(JSONTree.object(inAnswer: Array(whole.prefix(length))) == nil, "\(length)")
        }
    }
}
