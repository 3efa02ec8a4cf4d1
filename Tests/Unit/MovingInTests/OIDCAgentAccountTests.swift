import AuthRefreshInterface
import Basics
@testable import authimport
import RefreshCore
import Testing

struct OIDCAgentAccountTests {
    /// An account as oidc-gen 4.2.6 prints it, with tabs and empty texts.
    private static let printed = """
        {
        \t"name":\t"work",
        \t"client_name":\t"oidc-agent:work-host",
        \t"issuer_url":\t"https://iam.example.org/",
        \t"device_authorization_endpoint":\t"",
        \t"daeSetByUser":\t0,
        \t"client_id":\t"c-1",
        \t"client_secret":\t"s-1",
        \t"refresh_token":\t"rt-1",
        \t"cert_path":\t"/etc/ssl/certs/ca-certificates.crt",
        \t"scope":\t"openid offline_access",
        \t"audience":\t"grid",
        \t"redirect_uris":\t["edu.kit.data.oidc-agent:/redirect", "http://localhost:4242"],
        \t"username":\t"",
        \t"password":\t""
        }
        """

    private func read(_ text: String) throws(ProgramError) -> MovableAccount {
        try OIDCAgentAccount.account(in: Array(text.utf8), origin: "oidc-gen -p work")
    }

    @Test func `settings and secrets are those that oidc-gen prints`() throws {
        let account = try read(Self.printed)
        #expect(
            account.settings
                == AccountSettings(name: "work", issuer: "https://iam.example.org/", clientId: "c-1") {
                    $0.scopes = ["openid", "offline_access"]
                    $0.redirectUri = "http://localhost:4242"
                }
        )
        #expect(account.refreshToken == Secret("rt-1"))
        #expect(account.clientSecret == Secret("s-1"))
        let note = "The audience is not a setting of the account. Ask for it: authctl token work --audience grid"
        #expect(account.notes.map(\.text) == [note])
        #expect(account.notes.first?.command == "authctl token work --audience grid")
    }

    @Test func `a public client has no secret, and a missing refresh token is reported`() throws {
        let account = try read(#"{"issuer_url": "https://a.example", "client_id": "c", "client_secret": ""}"#)
        #expect(account.clientSecret == nil)
        #expect(account.refreshToken == nil)
        #expect(account.settings.name == "oidc-agent")
        #expect(account.notes.map(\.text) == ["oidc-agent has no refresh token. Sign in again."])
    }

    @Test func `endpoints of the account's own are kept, and a mytoken server's token stays there`() throws {
        let base = #""issuer_url": "https://a.example", "client_id": "c", "client_secret": "s", "refresh_token": "r""#
        let own = try read("{\(base), \"token_endpoint\": \"https://a.example/t\"}")
        #expect(own.settings.providerSettings == ["token_endpoint": "https://a.example/t"])
        let other = try read("{\(base), \"mytoken_url\": \"https://mytoken.example\"}")
        #expect(other.refreshToken == nil && other.clientSecret == nil)
        #expect(other.notes.first?.text.contains("https://mytoken.example") == true)
    }

    @Test(arguments: ["", "{", "[]", "{}", #"{"issuer_url": "https://a.example"}"#, "\"text\""])
    func `any other content is reported as the wrong format`(_ text: String) {
        let expected = "the account configuration that 'oidc-gen -p' prints"
        #expect(throws: ProgramError.wrongFormat("oidc-gen -p work", expected: expected)) { try read(text) }
    }

    @Test func `a file of a megabyte is read, and one byte more is refused`() throws {
        let base = #"{"issuer_url": "https://a.example", "client_id": "c"}"#
        let spaces = String(repeating: " ", count: ImportLimit.sourceBytesMax - base.utf8.count)
        #expect(try read(base + spaces).settings.clientId == "c")
        #expect(throws: ProgramError.tooLarge("oidc-gen -p work")) {
            try read(base + spaces + " ")
        }
    }

    @Test func `a document that is nested too deep, or has too many values, is refused`() throws {
        let read = { (value: String) throws in
            try self.read(#"{"issuer_url": "https://a.example", "client_id": "c", "x": \#(value)}"#)
        }
        let depth = ImportLimit.jsonNestingMax
        #expect(try read("[[0]]").settings.clientId == "c")
        for value in [
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth),
            "[0" + String(repeating: ",0", count: ImportLimit.jsonValuesMax) + "]",
        ] {
            #expect(throws: ProgramError.self) { try read(value) }
        }
    }

    @Test func `accounts are distinguished from oidc-agent's own files`() {
        let files = ["work", "issuer.config", ".hidden", "home", "old.clientconfig", "pubclients.config"]
        #expect(OIDCAgentAccount.names(among: files) == ["home", "work"])
    }
}
