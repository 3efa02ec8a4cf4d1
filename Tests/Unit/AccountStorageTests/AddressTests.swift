@testable import RefreshCore
import Testing

@testable import AccountStorage

/// Which account is chosen for an address.
struct AddressTests {
    private let store: AccountStore
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        store = try folder.open()
    }

    @discardableResult private func add(_ name: String, _ urls: String..., username: String? = nil) throws -> AccountID
    {
        var account = try Sample.account(name)
        let normalized = urls.map { ServiceAddress($0)?.text ?? $0 }
        account.delivery = Delivery(urls: normalized, username: username)
        return try store.add(account).account.id
    }

    private func found(_ url: String, _ username: String? = nil) throws -> String? {
        try store.accounts(for: #require(ServiceAddress(url)), username: username).first
    }

    @Test func `the longest path wins, by whole segments`() throws {
        try add("host", "https://git.example.org/")
        try add("team", "https://git.example.org/team/", "https://other.example.org")
        #expect(try found("https://git.example.org") == "host")
        #expect(try found("https://GIT.example.org:443/team/app.git") == "team")
        #expect(try found("https://git.example.org/team") == "team")
        #expect(try found("https://git.example.org/teams/app.git") == "host")
        #expect(try found("https://git.example.org/Team/app.git") == "host")
        #expect(try found("https://other.example.org/x") == "team")
        #expect(try found("https://example.org/") == nil)
        #expect(try found("https://git.example.org:8443/") == nil)
        #expect(try found("http://127.0.0.1/") == nil)
    }

    @Test func `a user name must be the same if both name one`() throws {
        try add("jane", "https://git.example.org/team", username: "jane")
        try add("any", "https://git.example.org")
        #expect(try found("https://git.example.org/team", "jane") == "jane")
        #expect(try found("https://git.example.org/team") == "jane")
        #expect(try found("https://git.example.org/team", "joe") == "any")
    }

    @Test func `an account of the user goes before an earlier one that is for everybody`() throws {
        try add("any", "https://git.example.org")
        try add("jane", "https://git.example.org", username: "jane")
        #expect(try found("https://git.example.org/x", "jane") == "jane")
        #expect(try found("https://git.example.org/x", "joe") == "any")
        #expect(try found("https://git.example.org/x") == "any")
    }

    @Test func `of several matching accounts, the first added is chosen`() throws {
        let first = try add("b", "https://git.example.org")
        try add("a", "https://git.example.org/")
        #expect(try found("https://git.example.org/x") == "b")
        try store.remove(first)
        #expect(try found("https://git.example.org/x") == "a")
    }

    @Test func `user names are the same in any case, and one that is written in the same way goes first`() throws {
        try add("jane", "https://git.example.org", username: "Jane")
        #expect(try found("https://git.example.org", "jane") == "jane")
        try add("other", "https://git.example.org", username: "jane")
        #expect(try found("https://git.example.org", "jane") == "other")
        #expect(try found("https://git.example.org", "JANE") == "jane")
    }

    @Test func `the accounts with the same address and user name are named after the one to use`() throws {
        let address = try #require(ServiceAddress("https://git.example.org/x"))
        try add("jane", "https://git.example.org", username: "jane")
        #expect(try store.accounts(for: address, username: nil) == ["jane"])
        try add("any", "https://git.example.org.")
        try add("b", "https://git.example.org/", username: "Jane")
        try add("a", "https://git.example.org/")
        #expect(try store.accounts(for: address, username: nil) == ["jane", "b"])
        #expect(try store.accounts(for: address, username: "joe") == ["any", "a"])
        #expect(try store.accounts(for: address, username: "Jane") == ["b", "jane"])
    }

    @Test func `Docker Hub is one registry under each of its names`() throws {
        try add("hub", "https://index.docker.io/v1/")
        #expect(try found("https://docker.io/library/app") == "hub")
        try add("team", "https://docker.io/team")
        #expect(try found("https://docker.io/team/app") == "team")
        #expect(try found("https://index.docker.io/v1/") == "hub")
        #expect(try found("https://docker.io.example.org/") == nil)
    }

    @Test func `an account's addresses follow its settings and its name`() throws {
        let id = try add("work", "https://git.example.org")
        var account = try #require(try store.record(id)).account
        account.delivery.urls = ["https://other.example.org/"]
        try store.update(account)
        try store.rename(id, to: Sample.name("job"))
        #expect(try found("https://git.example.org") == nil)
        #expect(try found("https://other.example.org") == "job")
        account = try #require(try store.record(id)).account
        account.delivery.urls = []
        try store.update(account)
        #expect(try found("https://other.example.org") == nil)
    }

    @Test func `addresses are paged, each once, in their original form`() throws {
        try add("b", "https://git.example.org/", "https://a.example.org", username: "jane")
        try add("a", "https://git.example.org")
        let page = try store.addresses(after: nil, limit: 1)
        #expect(page.map(\.url) == ["https://a.example.org"])
        let rest = try store.addresses(after: #require(page.last).key, limit: 10)
        #expect(rest.map(\.url) == ["https://git.example.org/"] && rest.map(\.account) == ["b"])
        #expect(rest.first?.username == "jane")
    }
}
