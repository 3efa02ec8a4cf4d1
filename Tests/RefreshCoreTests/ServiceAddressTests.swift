import RefreshCore
import Testing

struct ServiceAddressTests {
    @Test(arguments: [
        ("https://git.example.org", "https://git.example.org"),
        ("HTTPS://Git.Example.ORG:443/Team/", "https://git.example.org/Team/"),
        ("https://git.example.org:8443/a/b.git", "https://git.example.org:8443/a/b.git"),
        ("https://git.example.org:/", "https://git.example.org/"),
        ("http://127.0.0.1:80/x", "http://127.0.0.1/x"), ("http://localhost:5000", "http://localhost:5000"),
        ("http://[::1]:8080/v2/", "http://[::1]:8080/v2/"), ("https://[2001:DB8::1]:443", "https://[2001:db8::1]"),
    ])
    func `an address has one normalized form`(url: String, text: String) throws {
        let address = try #require(ServiceAddress(url))
        #expect(address.text == text)
        #expect(ServiceAddress(text) == address)
    }

    @Test(arguments: [
        "", "git.example.org", "http://git.example.org/", "ssh://git.example.org", "https://", "https:///x",
        "https://user@git.example.org", "https://git.example.org/?a", "https://git.example.org/#a",
        "https://git.example.org/a/../b", "https://git.example.org/./b", "https://git.example.org:x/",
        "https://git.example.org:0/", "https://git.example.org:65536/", "https://:443/", "https://git example.org",
        "https://git.example.org/\u{0}", "https://git.example.org/\n", "https://gít.example.org",
    ])
    func `an address to which no token may go is refused`(url: String) {
        #expect(ServiceAddress(url) == nil)
    }

    @Test func `an address is covered by its prefixes, by whole segments, the longest first`() throws {
        let address = try #require(ServiceAddress("https://Git.example.org//team/app.git/"))
        #expect(
            address.coverings == [
                "https://git.example.org/team/app.git", "https://git.example.org/team", "https://git.example.org",
            ]
        )
        #expect(try #require(ServiceAddress("https://git.example.org/")).coverings == ["https://git.example.org"])
    }

    @Test func `only a limited part of a requested path is compared`() throws {
        let path = String(repeating: "/a", count: 10_000)
        #expect(
            try #require(ServiceAddress("https://git.example.org" + path)).coverings.count == ServiceAddress.depthMax
                + 1
        )
    }
}
