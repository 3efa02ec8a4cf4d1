import AuthRefreshInterface
import Basics
@testable import authimport
import RefreshCore
import Testing

struct PizauthConfigurationTests {
    /// The example from pizauth's manual page, with one account of another server.
    private static let file = """
        // A setting that only pizauth uses.
        auth_notify_cmd = "notify-send 'pizauth; $PIZAUTH_ACCOUNT'";
        refresh_retry = 40s;
        account "office smtp" {
            auth_uri = "https://login.microsoftonline.com/common/oauth2/v2.0/authorize";
            token_uri = "https://login.microsoftonline.com/common/oauth2/v2.0/token";
            client_id = "c-1"; /* registered by us */
            client_secret = "s\\"1";
            scopes = [
              "https://outlook.office365.com/SMTP.Send",
              "offline_access"
            ];
            auth_uri_fields = { "login_hint": "jane@example.org", "prompt": "login" };
        }
        account "own" {
            token_uri = "https://as.example.org:8443/t?x";
            client_id = "c-2";
            redirect_uri = "http://localhost:8080/";
            refresh_at_least = 90m;
        }
        """

    private func read(_ text: String) throws(ProgramError) -> [MovableAccount] {
        try PizauthConfiguration.accounts(in: Array(text.utf8), origin: "pizauth.conf").accounts
    }

    @Test func `each block is an account without a grant`() throws {
        let accounts = try read(Self.file)
        #expect(accounts.map(\.settings.name) == ["office-smtp", "own"])
        #expect(accounts.allSatisfy { $0.refreshToken == nil })
        for account in accounts {
            let command = "authctl login \(account.settings.name)"
            #expect(account.notes.first?.text == "pizauth stores no refresh tokens. Sign in once: \(command)")
        }
        #expect(
            accounts[0].settings
                == AccountSettings(name: "office-smtp", provider: "microsoft", clientId: "c-1") {
                    $0.scopes = ["https://outlook.office365.com/SMTP.Send", "offline_access"]
                    $0.authorizationParameters = ["prompt": "login"]
                    $0.username = "jane@example.org"
                }
        )
        #expect(accounts[0].clientSecret == Secret("s\"1"))
        #expect(accounts[1].settings.issuer == "https://as.example.org:8443")
        #expect(accounts[1].settings.redirectUri == "http://localhost:8080/")
    }

    @Test func `a file without accounts has none`() throws {
        #expect(try read("refresh_retry = 40s;\n").isEmpty)
        #expect(try read("").isEmpty)
    }

    @Test(arguments: ["account", "\"text\"", "{\"json\": true}", "x = \"no end", "/* no end", "\u{0}"])
    func `foreign files are refused as a whole`(_ text: String) {
        #expect(throws: ProgramError.wrongFormat("pizauth.conf", expected: "pizauth's configuration file")) {
            try read(text)
        }
    }

    @Test(arguments: [
        "account \"a\"", "account \"a\" {", "account \"a\" { client_id }", "account \"a\" { client_id = \"c\" }",
        "account \"a\" { scopes = [\"s\"; }", "account \"a\" { scopes = [\"s\" \"t\"]; }",
        "account \"a\" { f = {\"k\" \"v\"}; }", "account \"a\" { client_id = \"no end; }",
    ])
    func `a broken account is a problem, and the others are read`(_ text: String) throws {
        let found = try PizauthConfiguration.accounts(
            in: Array(
                "\u{FEFF}account \"b\" { client_id = \"b\"; }\n\(text)\naccount \"c\" { client_id = \"c\"; }".utf8
            ),
            origin: "pizauth.conf"
        )
        #expect(found.accounts.map(\.settings.name) == ["b", "c"])
        #expect(
            found.problems.map(\.message) == [
                "'pizauth.conf' cannot be read: expected only settings in the account 'a'"
            ]
        )
    }

    @Test func `256 accounts are read, and one more is refused`() throws {
        let blocks = { (count: Int) in String(repeating: "account \"a\" { client_id = \"c\"; }\n", count: count) }
        #expect(try read(blocks(ImportLimit.movedAccountsMax)).count == 256)
        #expect(throws: ProgramError.tooManyAccounts("pizauth.conf")) {
            try read(blocks(257))
        }
    }
}
