import RefreshCore
import Testing

struct ServiceAddressTests {
    @Test(arguments: [
        ("https://git.example.org", "https://git.example.org"),
        ("HTTPS://Git.Example.ORG:443/Team/", "https://git.example.org/Team/"),
        ("https://git.example.org:8443/a/b.git", "https://git.example.org:8443/a/b.git"),
        ("https://git.example.org:/", "https://git.example.org/"),
        ("https://git.example.org./", "https://git.example.org/"),
        ("https://git.example.org.:8443/", "https://git.example.org:8443/"),
        ("https://index.docker.io/v1/", "https://docker.io/"), ("https://index.docker.io/v1", "https://docker.io"),
        ("https://index.docker.io/v10", "https://docker.io/v10"), ("https://docker.io./team", "https://docker.io/team"),
        ("http://127.0.0.1:80/x", "http://127.0.0.1/x"), ("http://localhost:5000", "http://localhost:5000"),
        ("https://Bücher.example:8443/x", "https://xn--bcher-kva.example:8443/x"),
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
        "https://git.example.org:0/", "https://git.example.org:65536/", "https://:443/", "https://./", "https://.:443/",
        "https://git example.org",
        "https://git.example.org/\u{0}", "https://git.example.org/\n",
        "https://gí t.example.org", "https://gí_t.example.org",
        "https://gít@git.example.org", "https://jane@gít.example.org", "https://gít/\u{301}x", "http://gít.example.org",
    ])
    func `an address to which no token may go is refused`(url: String) {
        #expect(ServiceAddress(url) == nil)
    }

    @Test(arguments: [
        // RFC 3492 §7.1 (A), (B), (L), and names that are in use.
        ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("3年B組金八先生", "3b-ww4c5e180e575a65lsy2b"), ("MÜNCHEN", "mnchen-3ya"), ("faß", "fa-hia"), ("例え", "r8jz45g"),
        ("\u{10FFFF}", "dn32g"),
    ])
    func `a name with letters beyond ASCII is the name that the DNS has`(label: String, text: String) throws {
        #expect(try #require(ServiceAddress("https://a.\(label).example/")).text == "https://a.xn--\(text).example/")
    }

    @Test func `a label is no longer than the DNS takes`() throws {
        #expect(ServiceAddress("https://" + String(repeating: "ü", count: 50) + "/") != nil)
        #expect(ServiceAddress("https://" + String(repeating: "ü", count: 64) + "/") == nil)
        #expect(ServiceAddress("https://" + String(repeating: "a", count: 59) + "ü/") == nil)
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
