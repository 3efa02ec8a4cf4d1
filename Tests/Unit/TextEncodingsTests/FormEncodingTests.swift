import TextEncodings
import Testing

struct FormEncodingTests {
    @Test(arguments: ["a=1&b=2", "a=&b=%20+x", "a=1&a=2"])
    func `forms are read`(_ text: String) {
        #expect(FormEncoding.parse(text)?.isEmpty == false)
    }

    @Test(arguments: ["", "a", "=1", "a=%2", "a=%zz", "a=1&b", "Error: a=b", "{\"a\":\"=\"}"])
    func `a text that is not a form is refused`(_ text: String) {
        #expect(FormEncoding.parse(text) == nil)
    }

    @Test func `a form with too many fields is refused`() {
        let fields = { (count: Int) in (0..<count).map { "f\($0)=v" }.joined(separator: "&") }
        #expect(FormEncoding.parse(fields(64))?.count == 64)
        #expect(FormEncoding.parse(fields(65)) == nil)
    }

    @Test func `any text survives form encoding and decoding`() {
        for text in ["", "a b+c&d=e%", "grün ✓", "\u{0}\n~*-._"] {
            #expect(FormEncoding.decode(FormEncoding.encode(text).utf8) == text)
        }
        #expect(FormEncoding.encode("a b~ü") == "a+b%7E%C3%BC")
    }

    @Test(arguments: ["%", "%2", "%zz", "%FF"]) func `a broken escape is refused`(encoded: String) {
        #expect(FormEncoding.decode(encoded.utf8) == nil)
    }
}
