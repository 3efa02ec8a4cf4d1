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

    @Test func `nothing behind an empty line is read`() throws {
        let asked = try GitCredential("protocol=https\nhost=git.example.org\n\nhost=other.example.org\n")
        #expect(asked.url == "https://git.example.org")
    }
}
