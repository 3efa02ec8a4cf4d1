import Testing

@testable import AuthRefreshInterface

/// Which texts may name a browser.
@Suite struct LoginBrowserTests {
    @Test func `an account's browser is a name, never a path or a command`() {
        for name in ["firefox", "google-chrome-stable", "org.mozilla.firefox.desktop", "firefox_firefox", "work+1"] {
            #expect(LoginBrowser.isName(name), "\(name)")
        }
        for text in [
            "", " ", "sh -c id", "/usr/bin/firefox", "./firefox", "../firefox", "a/b", ".hidden", "-P", "--version",
            "firefox ",
            "fire\nfox", "fire\tfox", "a;b", "$(id)", "%s", "a:b", "fïrefox", "firefox\u{0}",
            String(repeating: "a", count: 256),
        ] {
            #expect(!LoginBrowser.isName(text), "\(text)")
        }
    }

    @Test(
        arguments: [
            ("login_browser: firefox", "firefox"), ("a: 1\nlogin_browser: firefox # mine\nb: 2", "firefox"),
            ("login_browser: /usr/bin/firefox -P work", "/usr/bin/firefox -P work"),
            ("login_browser: \"firefox -P 'a'\"  ", "firefox -P 'a'"), ("login_browser: 'firefox'\r\nx: 1", "firefox"),
            ("login_browser: bin/firefox", nil), ("login_browser: a:b", nil), ("login_browser:", nil), ("", nil),
            ("#login_browser: firefox", nil), ("  login_browser: firefox", nil), ("login_browser: |\n  firefox", "|"),
        ] as [(String, String?)]
    )
    func `the configured command is read from its own line`(yaml: String, command: String?) {
        #expect(LoginBrowser.command(inConfiguration: yaml) == command)
    }
}
