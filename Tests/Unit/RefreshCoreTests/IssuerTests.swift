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
            ("", IssuerError.notAbsolute), ("login.example.org", .notAbsolute), ("https://", .notAbsolute),
            ("https:///path", .notAbsolute), ("https://a b", .notAbsolute), ("https://a\u{7f}", .notAbsolute),
            ("https://a/é", .notAbsolute), ("ftp://a", .notHTTPS), ("http://example.org", .notHTTPS),
            ("http://localhost.example.org", .notHTTPS), ("http://127.0.0.1.example.org", .notHTTPS),
            ("http://127.0.0.256", .notHTTPS), ("http://127.+0.0.1", .notHTTPS), ("http://128.0.0.1", .notHTTPS),
            ("http://[::1]example.org", .notHTTPS), ("http://[::1", .notHTTPS), ("http://[::2]", .notHTTPS),
            ("http://[::1:1]", .notHTTPS), ("http://[0:0:0:0:0:0:1]", .notHTTPS), ("http://[:1]", .notHTTPS),
            ("http://[::ffff:127.0.0.1]", .notHTTPS), ("http://[::ffff:7f00:1]", .notHTTPS),
            ("http://[::1%25eth0]", .notHTTPS), ("http://127.1", .notHTTPS), ("http://127.0.0.01", .notHTTPS),
            ("http://0x7f.0.0.1", .notHTTPS), ("http://2130706433", .notHTTPS), ("http://[127.0.0.1]", .notHTTPS),
            ("https://a?b", .hasQueryOrFragment), ("https://a/#b", .hasQueryOrFragment),
            ("https://user@a", .hasUserInfo), ("http://127.0.0.1@example.org", .hasUserInfo),
        ]
    )
    func `an invalid issuer is refused with the reason`(url: String, error: IssuerError) {
        #expect(throws: error) { try Issuer(url: url) }
    }

    @Test func `issuers are compared byte for byte`() throws {
        #expect(try Issuer(url: "https://a.example") != Issuer(url: "https://a.example/"))
        #expect(try Issuer(url: "https://a.example") != Issuer(url: "https://A.example"))
    }
}
