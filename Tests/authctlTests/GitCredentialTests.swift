import Testing

@testable import authctl

/// What git tells its helper, as it is read.
struct GitCredentialTests {
    @Test func `lines end at LF alone, so that none takes in the next one`() throws {
        let text = "protocol=https\nhost=git.example.org\r\nusername=joe\r\npassword=hunter2\n"
        let asked = try GitCredential(text)
        #expect(asked.host == "git.example.org\r")
        #expect(asked.username == "joe\r")
        #expect(asked.secret?.reveal() == "hunter2")
    }

    @Test func `nothing behind an empty line is read`() throws {
        let asked = try GitCredential("protocol=https\nhost=git.example.org\n\nhost=other.example.org\n")
        #expect(asked.url == "https://git.example.org")
    }
}
