import RefreshCore
import Testing

@Suite struct IssuerTests {
    @Test(
        arguments: [
            "https://login.example.org", "https://login.example.org/", "https://login.example.org:8443/tenant/v2.0",
            "HTTPS://login.example.org", "http://localhost:8080/realm", "http://127.0.0.1:1", "http://127.255.0.9/",
            "http://[::1]", "http://[::1]:8080/",
            "http://[0:0:0:0:0:0:0:1]", "http://[0::1]:8080/", "http://[::0001]/a",
        ]
    )
    func `an issuer is kept as it is written`(url: String) throws {
        let issuer = try Issuer(url: url)
        #expect(issuer.url == url)
        #expect(issuer.description == url)
        #expect(issuer.isLoopback == url.hasPrefix("http://"))
    }

    @Test(
        arguments: [
            ("", "absolute"), ("login.example.org", "absolute"), ("https://", "absolute"),
            ("https:///path", "absolute"), ("https://a b", "absolute"), ("https://a\u{7f}", "absolute"),
            ("https://a/é", "absolute"), ("ftp://a", "https"), ("http://example.org", "https"),
            ("http://localhost.example.org", "https"), ("http://127.0.0.1.example.org", "https"),
            ("http://127.0.0.256", "https"), ("http://127.+0.0.1", "https"), ("http://128.0.0.1", "https"),
            ("http://[::1]example.org", "https"), ("http://[::1", "https"), ("http://[::2]", "https"),
            ("http://[::1:1]", "https"), ("http://[0:0:0:0:0:0:1]", "https"), ("http://[:1]", "https"),
            ("http://[::ffff:127.0.0.1]", "https"), ("http://[::ffff:7f00:1]", "https"),
            ("http://[::1%25eth0]", "https"), ("http://127.1", "https"), ("http://127.0.0.01", "https"),
            ("http://0x7f.0.0.1", "https"), ("http://2130706433", "https"), ("http://[127.0.0.1]", "https"),
            ("https://a?b", "query"), ("https://a/#b", "query"),
            ("https://user@a", "user name"), ("http://127.0.0.1@example.org", "user name"),
        ]
    )
    func `an invalid issuer is refused with the reason`(url: String, word: String) {
        let error = #expect(throws: ValueError.self) { try Issuer(url: url) }
        #expect(error?.reason.contains(word) == true)
    }

    @Test func `issuers are compared byte for byte`() throws {
        #expect(try Issuer(url: "https://a.example") != Issuer(url: "https://a.example/"))
        #expect(try Issuer(url: "https://a.example") != Issuer(url: "https://A.example"))
    }
}
