import OAuthClient
import SignIn
import Testing

@testable import authrefreshd

/// Where servers are to send browsers back to.
struct RedirectChoiceTests {
    private let usual = SignInProfile()

    private func profile(_ set: (inout SignInProfile) -> Void) -> SignInProfile {
        var profile = SignInProfile()
        set(&profile)
        return profile
    }

    @Test func `without a profile a free port of the loopback address is taken`() throws {
        #expect(RedirectChoice.flow(for: usual) == .browser)
        #expect(try RedirectChoice(for: .browser, usual) == .loopback(host: "127.0.0.1", port: nil, path: "/"))
        #expect(try RedirectChoice(for: .paste, usual) == .fixed("http://127.0.0.1/"))
    }

    @Test func `a provider that insists on the name gets it`() throws {
        let profile = profile {
            $0.redirects = [.loopbackByName]; $0.redirectPort = 8400
        }
        let choice = try RedirectChoice(for: .browser, profile)
        #expect(choice == .loopback(host: "localhost", port: 8400, path: "/"))
        #expect(try RedirectChoice(for: .paste, profile) == .fixed("http://localhost:8400/"))
    }

    @Test func `a registered loopback address is listened on as it stands`() throws {
        let profile = profile { $0.redirectURI = "http://127.0.0.1:8400/callback" }
        #expect(RedirectChoice.flow(for: profile) == .browser)
        let choice = try RedirectChoice(for: .browser, profile)
        #expect(choice == .loopback(host: "127.0.0.1", port: 8400, path: "/callback"))
        #expect(try RedirectChoice(for: .paste, profile) == .fixed("http://127.0.0.1:8400/callback"))
    }

    @Test func `a provider that bans loopback is signed in to by paste`() throws {
        let relay = profile {
            $0.redirects = [.https]; $0.redirectURI = "https://me.example/relay"
        }
        #expect(RedirectChoice.flow(for: relay) == .paste)
        #expect(try RedirectChoice(for: .paste, relay) == .fixed("https://me.example/relay"))
        #expect(throws: SignInFailure.self) { try RedirectChoice(for: .browser, relay) }
        #expect(RedirectChoice.flow(for: profile { $0.redirects = [.paste, .https] }) == .paste)
    }

    @Test func `a scheme is the profile's, or there is none`() throws {
        let scheme = profile { $0.redirectScheme = "org.example.demo" }
        #expect(try RedirectChoice(for: .scheme, scheme) == .fixed("org.example.demo:/callback"))
        let whole = profile { $0.redirectURI = "org.example.demo:/other" }
        #expect(try RedirectChoice(for: .scheme, whole) == .fixed("org.example.demo:/other"))
        #expect(throws: SignInFailure.self) { try RedirectChoice(for: .scheme, usual) }
    }

    @Test(arguments: [
        "https://127.0.0.1/", "http://127.0.0.1.evil.example/", "http://127.0.0.1:0/", "http://127.0.0.1:x/",
        "http://127.0.0.1:80:80/", "http://localhost.example/", "http://127.0.0.1/?a=b", "http://[::2]:1/",
    ])
    func `what is not this machine is no loopback address`(text: String) {
        #expect(LoopbackURI(text) == nil)
    }
}
