import AuthRefreshInterface
import DemoIssuer
import Foundation
import TestSupport
import Testing

/// `authctl` against a real daemon and a real authorization server: every exit status that both can cause.
struct CommandTests {
    @Test func `each exit status follows from the daemon's answer`() async throws {
        // With rotation, the refusal of a refresh token that was issued a moment ago is confirmed first.
        try await withIssuer(policy: GrantPolicy(isRotating: false)) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let token = stage.folder.path + "/token"
            func grant(_ text: String) throws { try stage.folder.write(text + "\n", to: "token") }
            func expect(_ status: Int32, _ words: String...) async throws {
                let outcome = try await stage.authctl(words)
                #expect(outcome.end == .exited(status), "\(words): \(outcome.output) \(outcome.errors)")
                #expect(outcome.errors.contains("authctl: error: ") == (status != 0), "\(words): \(outcome.errors)")
                #expect(status == 0 || outcome.output.isEmpty, "\(words): \(outcome.output)")
            }
            let good = try await issuer.issueGrant(clientID: "app")
            try grant(good.refreshToken)
            try await expect(
                0,
                "account",
                "add",
                "work",
                "--issuer",
                url,
                "--client-id",
                "app",
                "--refresh-token-file",
                token
            )
            try await expect(0, "token", "work")
            try await expect(0, "refresh", "work")
            try await expect(4, "token", "nobody")
            try await expect(0, "account", "add", "empty", "--issuer", url, "--client-id", "app")
            try await expect(5, "token", "empty")
            try await expect(64, "account", "add", "work", "--issuer", url, "--client-id", "app")
            try await expect(65, "account", "add", "a/b", "--issuer", url, "--client-id", "app")
            try await expect(65, "account", "add", "x", "--issuer", "http://as.example", "--client-id", "app")
            try await expect(77, "store", "backup", "/sys/authrefreshd-test")
            try grant(good.refreshToken)
            try await expect(
                78,
                "account",
                "add",
                "other",
                "--issuer",
                url,
                "--client-id",
                "nobody",
                "--refresh-token-file",
                token
            )
            try await expect(
                75,
                "account",
                "add",
                "away",
                "--issuer",
                "http://127.0.0.1:1",
                "--client-id",
                "app",
                "--refresh-token-file",
                token
            )
            try await expect(0, "provider", "discover", url)
            // The same server by another name. Its document names the first.
            try await expect(65, "provider", "discover", url.replacing("127.0.0.1", with: "localhost"))
            try await expect(75, "provider", "discover", "http://127.0.0.1:1")
            let family = try await issuer.issueGrant(clientID: "app")
            try await issuer.revokeGrant(family.family)
            try grant(family.refreshToken)
            // A token that the server refuses replaces nothing.
            try await expect(65, "account", "import", "work", "--refresh-token-file", token)
            try await issuer.revokeGrant(good.family)
            try await expect(3, "refresh", "work")
            try await daemon.terminate()
            try await expect(69, "status")
        }
    }

    @Test func `invalid account names are refused, and looking them up finds nothing`() async throws {
        try await withIssuer { _, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let names = [
                "with space", "a/b", "../x", "😀", "", "-", ".hidden", String(repeating: "a", count: 65),
                String(repeating: "a", count: 300), "a\nb", "a\u{1B}[31m",
            ]
            for name in names {
                let added = try await stage.authctl("account", "add", "--issuer", url, "--client-id", "app", "--", name)
                #expect(added.end == .exited(65), "\(name): \(added.errors)")
                let asked = try await stage.authctl("token", "--", name)
                #expect(asked.end == .exited(4), "\(name): \(asked.errors)")
                for errors in [added.errors, asked.errors] {
                    #expect(!errors.contains("\u{1B}"))
                    #expect(errors.split(separator: "\n").allSatisfy { $0.hasPrefix("authctl: ") }, "\(errors)")
                }
            }
            #expect(try await stage.statuses().isEmpty)
            try await daemon.terminate()
        }
    }

    @Test func `followers learn an account's previous name`() async throws {
        try await withIssuer { _, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await stage.add("work", issuer: url)
            let feed = try await ChangeFeed(stage)
            let renamed = try await stage.authctl("account", "rename", "work", "office")
            #expect(renamed.end == .exited(0))
            let change = try await feed.next("account-renamed", of: "office")
            #expect(change.previousName == "work")
            #expect(change.accounts.map(\.account) == ["office"])
            try await daemon.terminate()
        }
    }

    @Test func `a provider's required settings are demanded at account add and before a sign-in`()
        async throws
    {
        let stage = try DaemonStage()
        try stage.folder.write(
            "name: strict\nissuer: https://as.example\nrequired_settings: [redirect_port]\nredirects: [loopback]\n"
                + "notes: [{about: redirects, text: Register a port.}]\n",
            to: "config/authrefreshd/providers.d/strict.yaml"
        )
        let daemon = try await stage.start()
        let add = ["account", "add", "work", "--provider", "strict", "--client-id", "c"]
        let refused = try await stage.authctl(add)
        #expect(refused.end == .exited(65))
        #expect(refused.errors.contains("--redirect-port PORT (Register a port.)"), "\(refused.errors)")
        let added = try await stage.authctl(add + ["--provider-setting", "required_settings="])
        #expect(added.end == .exited(0), "\(added.errors)")
        let edited = try await stage.authctl("account", "edit", "work", "--clear", "provider-setting")
        #expect(edited.end == .exited(0), "\(edited.errors)")
        let login = try await stage.authctl("login", "work", "--flow", "browser", "--no-open")
        #expect(login.end == .exited(78), "\(login.errors)")
        #expect(login.errors.contains("authctl account edit work --redirect-port PORT"), "\(login.errors)")
        try await daemon.terminate()
    }

    @Test func `profiles in the user's folder are shown with their file`() async throws {
        let stage = try DaemonStage()
        let profile = "name: example\nissuer: https://as.example\nrefresh_token_lifetime: 90d # by its documentation\n"
        try stage.folder.write(profile, to: "config/authrefreshd/providers.d/mine.yaml")
        let daemon = try await stage.start()
        let shown = try await stage.authctl("provider", "show", "example", "--json")
        let reply = try JSONDecoder().decode([String: ProviderDescription].self, from: Data(shown.output.utf8))
        let provider = try #require(reply["provider"])
        #expect(provider.issuer == "https://as.example")
        #expect(provider.text == profile)
        #expect(provider.path == stage.folder.path + "/config/authrefreshd/providers.d/mine.yaml")
        #expect(try await stage.authctl("provider", "list").output.contains("example"))
        try await daemon.terminate()
    }
}
