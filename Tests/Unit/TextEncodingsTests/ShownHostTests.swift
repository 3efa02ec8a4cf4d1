import Testing
import TextEncodings

@Suite struct ShownHostTests {
    @Test(arguments: [
        ("https://login.example.org/tenant/v2.0", "login.example.org"), ("http://127.0.0.1:4711?a=b", "127.0.0.1:4711"),
        ("https://example.org#part", "example.org"), ("https://[::1]:8080/", "[::1]:8080"), ("issuer", "issuer"),
        ("https:///path", "https:///path"),
    ])
    func `a URL is shown by its host`(url: String, host: String) {
        #expect(ShownHost.of(url) == host)
    }
}
