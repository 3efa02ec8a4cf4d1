import AuthRefreshInterface
import Basics
import Testing

@testable import authctl

/// The proxy of a shell, compared with the daemon's.
@Suite struct UnusedProxyTests {
    @Test(
        arguments: [
            (["https_proxy": "http://p.example:3128"], "http://p.example:3128"),
            (["HTTPS_PROXY": "p.example:3128"], "http://p.example:3128"),
            (["ALL_PROXY": "socks5://p.example:1080"], "socks5h://p.example:1080"),
            (["HTTPS_PROXY": "https://jane:hunter2@[fd00::1]:3128/"], "https://[fd00::1]:3128"),
            (["HTTPS_PROXY": "http://jane:p@ss@p.example"], "http://p.example"),
            (["all_proxy": "http://all.example", "HTTPS_PROXY": "http://p.example"], "http://p.example"),
            // A part of a password, if it has a slash and is not percent-encoded.
            (["HTTPS_PROXY": "http://jane:hun/ter2@p.example"], nil), (["HTTPS_PROXY": "ftp://p.example"], nil),
            (["HTTPS_PROXY": "http://p.example\nX=1"], nil), (["HTTPS_PROXY": "http://"], nil),
            (["HTTP_PROXY": "http://p.example"], nil), ([:], nil),
        ] as [([String: String], String?)]
    )
    func `a shell's proxy is told without its credentials`(environment: [String: String], url: String?) {
        #expect(UnusedProxy { environment[$0] }?.url == url)
    }

    @Test func `the drop-in has two lines, which systemd reads as they stand`() throws {
        let environment = [
            "HTTPS_PROXY": "http://jane:hunter2@p.example:3128",
            "NO_PROXY": "localhost, *.a.example 10.0.0.0/8,%h,\"x\"",
        ]
        let proxy = try #require(UnusedProxy { environment[$0] })
        let lines = [
            "[Service]",
            "Environment=HTTPS_PROXY=http://p.example:3128 NO_PROXY=localhost,*.a.example,10.0.0.0/8",
        ]
        #expect(proxy.dropIn == lines)
        let finding = proxy.finding
        #expect(finding.level == "note" && finding.check == "proxy")
        for line in lines { #expect(finding.advice?.contains(line) == true) }
        let hints = proxy.hints.map(\.text).joined()
        #expect(hints.contains("the password is left out here"))
        #expect(!"\(proxy)".contains("hunter2"))
    }
}
