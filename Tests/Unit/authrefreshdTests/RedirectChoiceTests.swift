import AccountStorage
import OAuthMessages
@testable import RefreshCore
@testable import authrefreshd
import Testing

/// Which redirect URIs are sent to servers.
struct RedirectChoiceTests {
    private let usual = SignInProfile()

    private func profile(_ set: (inout SignInProfile) -> Void) -> SignInProfile {
        var profile = SignInProfile()
        set(&profile)
        return profile
    }

    @Test func `without a profile a free loopback port is used`() throws {
        #expect(RedirectChoice.flow(for: usual) == .browser)
        #expect(try RedirectChoice(for: .browser, usual) == .loopback(host: "127.0.0.1", port: nil, path: "/"))
        #expect(try RedirectChoice(for: .paste, usual) == .fixed("http://127.0.0.1/"))
    }

    @Test func `a provider that requires the name localhost gets it`() throws {
        let profile = profile {
            $0.redirects = [.loopbackByName]; $0.redirectPort = 8400
        }
        let choice = try RedirectChoice(for: .browser, profile)
        #expect(choice == .loopback(host: "localhost", port: 8400, path: "/"))
        #expect(try RedirectChoice(for: .paste, profile) == .fixed("http://localhost:8400/"))
    }

    @Test func `a registered loopback address is used unchanged`() throws {
        let profile = profile { $0.redirectURI = "http://127.0.0.1:8400/callback" }
        #expect(RedirectChoice.flow(for: profile) == .browser)
        let choice = try RedirectChoice(for: .browser, profile)
        #expect(choice == .loopback(host: "127.0.0.1", port: 8400, path: "/callback"))
        #expect(try RedirectChoice(for: .paste, profile) == .fixed("http://127.0.0.1:8400/callback"))
    }

    @Test func `a provider that forbids loopback is signed in to by paste`() throws {
        let relay = profile {
            $0.redirects = [.https]; $0.redirectURI = "https://me.example/relay"
        }
        #expect(RedirectChoice.flow(for: relay) == .paste)
        #expect(try RedirectChoice(for: .paste, relay) == .fixed("https://me.example/relay"))
        #expect(throws: SignInFailure.self) { try RedirectChoice(for: .browser, relay) }
        #expect(RedirectChoice.flow(for: profile { $0.redirects = [.paste, .https] }) == .paste)
    }

    private func account(
        _ issuer: String = "https://login.example.com",
        _ redirect: RegisteredRedirect = RegisteredRedirect()
    )
        throws -> Account
    {
        Account(
            id: AccountID(7),
            name: try #require(AccountName("work")),
            issuer: try Issuer(url: issuer),
            registration: ClientRegistration(clientID: "app", redirect: redirect)
        )
    }

    @Test func `an issuer without a profile gets its own redirect URI`() throws {
        let own = try #require(try RedirectChoice.own(for: account(), profile: nil, isRegistering: false))
        #expect(own == "http://127.0.0.1/callback/4b246bc1a12459de")
        let other = try RedirectChoice.own(
            for: account("https://login.example.org"),
            profile: usual,
            isRegistering: false
        )
        #expect(other != own)
        let withPort = profile { ($0.redirectURI, $0.redirectPort) = (own, 8400) }
        #expect(RedirectChoice.loopbackURI(withPort) == own.replacing("127.0.0.1", with: "127.0.0.1:8400"))
        let registered = profile { ($0.redirectURI, $0.redirectScheme) = (own, "org.example.demo") }
        let path = "/callback/4b246bc1a12459de"
        #expect(try RedirectChoice(for: .browser, registered).issuerPath == path)
        #expect(try RedirectChoice(for: .paste, registered).issuerPath == path)
        #expect(try RedirectChoice(for: .scheme, registered) == .fixed("org.example.demo:" + path))
        #expect(try RedirectChoice(for: .scheme, registered).issuerPath == path)
        #expect(RedirectChoice.registered(as: registered) == [own, "org.example.demo:" + path])
    }

    @Test func `a registered port is registered for both loopback addresses, and a chosen URI stands alone`() {
        let own = profile { ($0.redirectURI, $0.redirectPort) = ("http://127.0.0.1/callback/4b246bc1a12459de", 61_001) }
        let both = ["127.0.0.1", "[::1]"].map { "http://\($0):61001/callback/4b246bc1a12459de" }
        #expect(RedirectChoice.registered(as: own) == both)
        let byName = profile { ($0.redirects, $0.redirectPort) = ([.loopbackByName], 61_001) }
        #expect(RedirectChoice.registered(as: byName) == ["http://localhost:61001/"])
        let chosen = profile { ($0.redirectURI, $0.redirectPort) = ("http://127.0.0.1/cb", 61_001) }
        #expect(RedirectChoice.registered(as: chosen) == ["http://127.0.0.1:61001/cb"])
        #expect(RedirectChoice.lacksPort(usual) && !RedirectChoice.lacksPort(own))
        #expect(!RedirectChoice.lacksPort(profile { $0.redirectURI = "https://me.example/relay" }))
    }

    @Test func `a chosen redirect URI, or a required issuer, keeps the registered URI`() throws {
        let named = try account("https://login.example.com", RegisteredRedirect(uri: "http://127.0.0.1/"))
        #expect(RedirectChoice.own(for: named, profile: nil, isRegistering: false) == nil)
        let trusting = try account("https://login.example.com", RegisteredRedirect(requiresIssuer: true))
        #expect(RedirectChoice.own(for: trusting, profile: nil, isRegistering: false) == nil)
        let shipped = profile { $0.redirects = [.loopbackByName] }
        #expect(try RedirectChoice.own(for: account(), profile: shipped, isRegistering: false) == nil)
        let registering = try RedirectChoice.own(for: account(), profile: shipped, isRegistering: true)
        #expect(registering?.hasPrefix("http://localhost/callback/") == true)
        #expect(try RedirectChoice(for: .browser, usual).issuerPath == nil)
    }

    @Test func `the path follows an account to its next issuer`() throws {
        let (first, second) = (try account(), try account("https://login.example.org"))
        let own = try #require(RedirectChoice.own(for: first, profile: nil, isRegistering: false))
        let moved = RedirectChoice.moved(own, from: first.issuer, to: second.issuer)
        #expect(moved == RedirectChoice.own(for: second, profile: nil, isRegistering: false))
        #expect(RedirectChoice.moved("http://127.0.0.1/", from: first.issuer, to: second.issuer) == nil)
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
        "http://[::ffff:127.0.0.1]:1/", "http://127.1/", "http://127.0.0.2/", "http://[::1]x/", "http://[::1/",
    ])
    func `another machine's address is not a loopback address`(text: String) {
        #expect(LoopbackURI(text) == nil)
    }

    @Test(arguments: ["[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]"])
    func `a loopback address is sent to the server as it was given`(host: String) throws {
        let uri = try #require(LoopbackURI("http://\(host):8400/callback"))
        #expect((uri.host, uri.port, uri.path) == (host, 8400, "/callback"))
        let registered = profile { $0.redirectURI = "http://\(host)/callback" }
        #expect(try RedirectChoice(for: .browser, registered) == .loopback(host: host, port: nil, path: "/callback"))
    }
}
