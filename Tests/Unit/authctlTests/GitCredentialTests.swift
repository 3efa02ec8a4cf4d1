import Basics
import Testing

@testable import authctl

/// What git tells its helper, as it is read.
struct GitCredentialTests {
    @Test func `a CR belongs to the line's end only before the LF, as git reads it`() throws {
        let text = "protocol=https\nhost=git.example.org\r\nusername=joe\rhost=evil.example\r\npassword=hunter2\n"
        let asked = try GitCredential(text)
        #expect(asked.host == "git.example.org")
        #expect(asked.username == "joe\rhost=evil.example")
        #expect(asked.secret?.reveal() == "hunter2")
    }

    /// The pieces in which the text arrives do not matter.
    @Test(
        arguments: [
            ("a=b\n\n", true), ("a=b\r\n\r\n", true), ("\n", true), ("\r\n", true), ("a=b\n", false),
            ("a=b\r\n", false),
            ("a=b\n\r\r\n", false), ("a=b\n \n", false), ("a=b\n\nc=d\n", true), ("", false),
        ]
    )
    func `an empty line is found wherever the pieces end`(text: String, isFound: Bool) {
        let bytes = Array(text.utf8)
        #expect((0...bytes.count).contains { StandardInput.hasEmptyLine(Array(bytes.prefix($0))) } == isFound)
        #expect(StandardInput.hasEmptyLine(bytes) == isFound)
    }

    @Test func `nothing behind an empty line is read`() throws {
        let asked = try GitCredential("protocol=https\nhost=git.example.org\n\nhost=other.example.org\n")
        #expect(asked.url == "https://git.example.org")
    }
}
