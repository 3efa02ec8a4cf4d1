@testable import RefreshCore
import Testing

@Suite struct RedactionTests {
    private static let text = "s3cr3t-t0ken"
    private static let secret = Secret(text)

    /// All types that hold a secret, including `Secret` itself.
    private static let holders: [(name: String, value: any Sendable)] = [
        ("Secret", secret), ("RefreshToken", RefreshToken(secret)), ("AccessToken", AccessToken(secret)),
        ("optional", Optional(secret) as any Sendable), ("array", [secret]), ("dictionary", ["token": secret]),
        ("ClientRegistration", ClientRegistration(clientID: "client", clientSecret: secret)),
    ]

    @Test(arguments: holders.indices) func `no way of printing shows a secret`(index: Int) {
        let value = RedactionTests.holders[index].value
        var dumped = ""
        dump(value, to: &dumped)
        for printed in ["\(value)", String(describing: value), String(reflecting: value), dumped] {
            #expect(!printed.contains(RedactionTests.text))
            #expect(printed.contains("<redacted>"))
        }
    }

    @Test func `every description of a secret is the same word`() {
        #expect(RedactionTests.secret.description == "<redacted>")
        #expect(RedactionTests.secret.debugDescription == "<redacted>")
        #expect("\(RedactionTests.secret)" == "<redacted>")
    }

    @Test func `a mirror of a secret is empty`() {
        let mirror = Mirror(reflecting: RedactionTests.secret)
        #expect(mirror.children.isEmpty)
        #expect(mirror.superclassMirror == nil)
    }

    @Test func `only reveal returns the secret`() {
        #expect(RedactionTests.secret.reveal() == RedactionTests.text)
        #expect(RedactionTests.secret.count == 12)
        let bytes = unsafe RedactionTests.secret.withBytes { unsafe Array($0) }
        #expect(bytes == Array(RedactionTests.text.utf8))
    }

    @Test func `secrets with equal bytes are equal`() {
        #expect(Secret("a") == Secret([UInt8(ascii: "a")]))
        #expect(Secret("a") != Secret("b"))
        #expect(Secret("a") != Secret("aa"))
        #expect(Secret("") == Secret([]))
        #expect(Secret("").isEmpty && Secret("").reveal().isEmpty)
    }

    @Test func `a secret can be written in place, and be shorter than its capacity`() {
        struct Interrupted: Error {}
        let secret = unsafe Secret(capacity: 9) { bytes in
            unsafe bytes.copyBytes(from: "two".utf8)
            return 3
        }
        #expect(secret == Secret("two"))
        #expect(throws: Interrupted.self) { try unsafe Secret(capacity: 9) { _ in throw Interrupted() } }
    }

    @Test func `creating a secret does not change its source bytes`() {
        let bytes = ContiguousArray(RedactionTests.text.utf8)
        #expect(Secret(bytes).reveal() == RedactionTests.text)
        #expect(bytes == ContiguousArray(RedactionTests.text.utf8))
    }
}
