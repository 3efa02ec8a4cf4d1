import Basics
import Testing

@testable import authctl

@Suite struct SecretTextTests {
    @Test func `a secret prints as redacted in every form`() {
        let secret = SecretText("hunter2")
        var dumped = ""
        dump([secret], to: &dumped)
        for form in ["\(secret)", String(describing: [secret]), String(reflecting: secret), dumped] {
            #expect(!form.contains("hunter2"))
        }
        #expect("\(secret)" == "<redacted>")
        #expect(secret.reveal() == "hunter2")
    }
}
