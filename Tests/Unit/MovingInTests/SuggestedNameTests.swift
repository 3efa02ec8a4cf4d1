@testable import authimport
import Testing

struct SuggestedNameTests {
    @Test(arguments: [
        ("work", "work"), ("jane@example.org", "jane@example.org"), ("office smtp", "office-smtp"), ("-x", "x"),
        ("..", "fallback"), ("", "fallback"), ("größe", "gr--e"), ("a/b:c", "a-b-c"),
        (String(repeating: "n", count: 65), String(repeating: "n", count: 64)),
    ])
    func `a suggestion is a name that an account can have`(_ text: String, _ name: String) {
        #expect(MovableAccount.name(from: text, fallback: "fallback") == name)
    }
}
