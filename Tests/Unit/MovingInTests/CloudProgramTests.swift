import AuthRefreshInterface
import Basics
@testable import authimport
import RefreshCore
import TestSupport
import Testing

/// Files of command-line programs for clouds and clusters. The texts of rclone 1.60, kubectl 1.32 and the MSAL library
/// 1.31, on which Azure CLI is built, come from the programs; those of gcloud and kubelogin follow their published
/// formats. All secrets are invented.
struct CloudProgramTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    // MARK: gcloud

    private static let gcloud = """
        {"account": "", "client_id": "764-abc.apps.googleusercontent.com", "client_secret": "d-fl", "quota_project_id": "p",
         "refresh_token": "1//gcloud", "type": "authorized_user", "universe_domain": "googleapis.com"}
        """

    @Test func `gcloud's file is a Google account`() throws {
        let account = try GcloudCredentials.account(in: bytes(Self.gcloud), origin: "adc.json")
        #expect(account.settings.provider == "google")
        #expect(account.settings.clientId == "764-abc.apps.googleusercontent.com")
        #expect(account.clientSecret?.reveal() == "d-fl")
        #expect(account.refreshToken?.reveal() == "1//gcloud")
    }

    @Test func `gcloud's folder can be configured`() {
        let moved = GcloudCredentials.path(home: "/home/ada", environment: ["CLOUDSDK_CONFIG": "/srv/gcloud"])
        #expect(moved == "/srv/gcloud/application_default_credentials.json")
        let usual = GcloudCredentials.path(home: "/home/ada", environment: [:])
        #expect(usual == "/home/ada/.config/gcloud/application_default_credentials.json")
    }

    @Test func `gcloud's file for an impersonated service account is the person's account`() throws {
        let text = """
            {"type": "impersonated_service_account", "delegates": [], "service_account_impersonation_url":
             "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/x@p.iam:generateAccessToken",
             "source_credentials": \(Self.gcloud)}
            """
        let account = try GcloudCredentials.account(in: bytes(text), origin: "adc.json")
        #expect(account.settings.provider == "google" && account.refreshToken?.reveal() == "1//gcloud")
        #expect(account.notes.first?.text.contains("impersonates the service account 'x@p.iam'") == true)
    }

    @Test func `workforce identity federation has its own token endpoint, and a workload has no grant`() throws {
        let text = """
            {"type": "external_account_authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r",
             "token_url": "https://sts.googleapis.com/v1/oauthtoken"}
            """
        let account = try GcloudCredentials.account(in: bytes(text), origin: "adc.json")
        #expect(account.settings.provider == nil && account.refreshToken?.reveal() == "r")
        #expect(account.settings.providerSettings?["token_endpoint"] == "https://sts.googleapis.com/v1/oauthtoken")
        let error = #expect(throws: ProgramError.self) {
            try GcloudCredentials.account(in: bytes(#"{"type": "external_account"}"#), origin: "adc.json")
        }
        #expect(error?.message.contains("external_account") == true)
    }

    // MARK: Azure CLI

    @Test func `each tenant of a person is an account, with a name of its own`() throws {
        let subscription = { (tenant: String, user: String, isDefault: Bool) in
            #"{"user": {"name": "\#(user)"}, "tenantId": "\#(tenant)", "isDefault": \#(isDefault), "#
                + #""tenantDefaultDomain": "\#(tenant.prefix(2)).onmicrosoft.com"}"#
        }
        let list = [
            subscription("aa-1", "joe@example.org", false), subscription("bb-2", "joe@example.org", true),
            subscription("aa-1", "joe@example.org", false), subscription("aa-3", "joe@example.org", false),
            subscription("dd-4", "jane@example.org", false),
        ]
        let accounts = try AzureTokenCache.accounts(
            in: bytes(Self.azure),
            profile: bytes("\u{FEFF}{\"subscriptions\": [\(list.joined(separator: ", "))]}"),
            origin: "f"
        ).accounts
        #expect(accounts.map { $0.settings.variables?["tenant"] } == ["bb-2", "aa-1", "aa-3"])
        #expect(accounts.map(\.settings.name) == ["joe@example.org", "joe@example.org-aa", "aa-3-joe@example.org"])
        #expect(accounts.allSatisfy { $0.refreshToken?.reveal() == "RT-azure" })
    }

    @Test func `an entry of the cache that is cut is a problem, and the others are read`() throws {
        let found = try AzureTokenCache.accounts(
            in: bytes(Self.azure.replacing(#""RefreshToken": {"#, with: #""RefreshToken": {"x": {"secret": "s"}, "#)),
            profile: nil,
            origin: "f"
        )
        #expect(found.accounts.count == 1 && found.problems.count == 1)
    }

    private static let azure = """
        {"Account": {"aaaa.1111-login.microsoftonline.com-organizations": {
            "home_account_id": "aaaa.1111", "environment": "login.microsoftonline.com", "realm": "organizations",
            "local_account_id": "o", "username": "joe@example.org", "authority_type": "MSSTS"}},
         "RefreshToken": {"aaaa.1111-login.microsoftonline.com-refreshtoken-04b0--x": {
            "credential_type": "RefreshToken", "secret": "RT-azure", "home_account_id": "aaaa.1111",
            "environment": "login.microsoftonline.com", "client_id": "04b07795-8ddb-461a-bbee-02f9e1bf7b46",
            "target": "https://management.core.windows.net//.default offline_access openid profile", "family_id": "1"}}}
        """

    @Test func `Azure CLI's cache has an account for each person, in the person's tenant`() throws {
        let accounts = try AzureTokenCache.accounts(
            in: bytes(Self.azure),
            profile: nil,
            origin: "msal_token_cache.json"
        ).accounts
        #expect(accounts.count == 1)
        #expect(accounts.first?.settings.name == "joe@example.org")
        #expect(accounts.first?.settings.provider == "microsoft")
        #expect(accounts.first?.settings.clientId == "04b07795-8ddb-461a-bbee-02f9e1bf7b46")
        #expect(accounts.first?.settings.variables?["tenant"] == "1111")
        #expect(accounts.first?.refreshToken?.reveal() == "RT-azure")
        #expect(accounts.first?.clientSecret == nil)
    }

    @Test func `of several tokens of one person for one client, the last one counts`() throws {
        let entry = { (secret: String, written: Int) in
            #"{"secret": "\#(secret)", "home_account_id": "a.t", "environment": "login.microsoftonline.com", "#
                + #""client_id": "c", "last_modification_time": "\#(written)"}"#
        }
        let cache = #"{"RefreshToken": {"1": \#(entry("last", 9)), "2": \#(entry("spent", 8))}}"#
        let accounts = try AzureTokenCache.accounts(in: bytes(cache), profile: nil, origin: "f").accounts
        #expect(accounts.map { $0.refreshToken?.reveal() } == ["last"])
    }

    @Test func `an encrypted cache is reported as encrypted`() {
        let error = #expect(throws: ProgramError.self) {
            try AzureTokenCache.accounts(in: [1, 2, 3], profile: nil, origin: "msal_token_cache.bin")
        }
        #expect(error?.message == "'msal_token_cache.bin' is encrypted")
        #expect(error?.hint?.text.contains("core.encrypt_token_cache=false") == true)
    }

    // MARK: rclone

    private static let rclone = """
        [drv]
        type = drive
        client_id = 77-x.apps.googleusercontent.com
        client_secret = GOCSPX-own
        token = {"access_token":"at","token_type":"Bearer","refresh_token":"1//rclone","expiry":"2026-11-25T12:00:00Z"}

        [od]
        type = onedrive
        token = {"access_token":"at","token_type":"Bearer","refresh_token":"M.R3","expiry":"2026-11-25T12:00:00Z"}
        drive_id = x
        drive_type = personal

        [files]
        type = local

        [link box]
        type = linkbox
        token = not-json

        """

    @Test func `a remote with its own client moves with its grant, any other without`() throws {
        let accounts = try RcloneConfiguration.accounts(in: bytes(Self.rclone), origin: "rclone.conf").accounts
        #expect(accounts.map(\.settings.name) == ["drv", "od"])
        #expect(accounts.map(\.settings.provider) == ["google", "microsoft"])
        #expect(accounts.map { $0.refreshToken?.reveal() } == ["1//rclone", nil])
        #expect(accounts.map { $0.clientSecret?.reveal() } == ["GOCSPX-own", nil])
        #expect(accounts[1].notes.first?.text.contains("rclone's built-in client") == true)
    }

    private static let token = #"{"access_token":"at","refresh_token":"RT","expiry":"2026-11-25T12:00:00Z"}"#

    @Test(arguments: ["this is no setting", "[cut", "token = {\"access_token\":\"a"])
    func `a remote with a bad line is a problem, and the others are read`(line: String) throws {
        let own = "type = drive\r\nclient_id = \"c\"\r\nclient_secret = 's'\r\ntoken = \(Self.token)\r\n"
        let found = try RcloneConfiguration.accounts(
            in: bytes("\u{FEFF}[a]\r\n\(own)[bad]\r\n\(line)\r\n[b]\r\n\(own)"),
            origin: "rclone.conf"
        )
        #expect(found.accounts.map(\.settings.name) == ["a", "b"])
        #expect(found.accounts.map { $0.clientSecret?.reveal() } == ["s", "s"])
        #expect(found.problems.count >= 1 && found.problems.allSatisfy { $0.message.contains("the remote '") })
    }

    @Test func `an encrypted rclone.conf is reported as encrypted`() {
        let error = #expect(throws: ProgramError.self) {
            try RcloneConfiguration.accounts(
                in: bytes("# Encrypted\n\nRCLONE_ENCRYPT_V0:\nAAAA\n"),
                origin: "rclone.conf"
            )
        }
        #expect(error?.message == "'rclone.conf' is encrypted")
        #expect(error?.hint?.text.contains("rclone config") == true)
    }

    // MARK: kubectl and kubelogin

    private static let kubeconfig = """
        apiVersion: v1
        clusters: null
        kind: Config
        preferences: {}
        users:
        - name: joe
          user:
            auth-provider:
              config:
                client-id: kube
                client-secret: ks
                extra-scopes: groups
                id-token: x.y.z
                idp-issuer-url: https://idp.example.org
                refresh-token: kr
              name: oidc
        - name: kl
          user:
            exec:
              apiVersion: client.authentication.k8s.io/v1
              args:
              - oidc-login
              - get-token
              - --oidc-issuer-url=https://idp2.example.org
              - --oidc-client-id=kl
              command: kubectl
              env: null
              provideClusterInfo: false
        - name: certificate
          user: {}

        """

    @Test func `kubectl's own sign-ins are the users of the auth-provider oidc`() throws {
        let accounts = try KubeconfigUsers.accounts(in: bytes(Self.kubeconfig), origin: "config").accounts
        #expect(accounts.map(\.settings.name) == ["joe"])
        #expect(accounts.first?.settings.issuer == "https://idp.example.org")
        #expect(accounts.first?.settings.clientId == "kube")
        #expect(accounts.first?.settings.scopes == ["openid", "groups"])
        #expect(accounts.first?.clientSecret?.reveal() == "ks")
        #expect(accounts.first?.refreshToken?.reveal() == "kr")
    }

    @Test func `kubelogin's users are recognized by their command, and their tokens by issuer and client`() throws {
        let users = try KubeconfigUsers.kubelogin(in: bytes(Self.kubeconfig), origin: "config").accounts
        #expect(users.map(\.settings.issuer) == ["https://idp2.example.org"])
        #expect(users.map(\.settings.clientId) == ["kl"])
        // {"iss":"https://idp2.example.org","aud":"kl"}
        let payload = "eyJpc3MiOiJodHRwczovL2lkcDIuZXhhbXBsZS5vcmciLCJhdWQiOiJrbCJ9"
        let cache = bytes(#"{"id_token":"e30.\#(payload).x","refresh_token":"kl-rt"}"#)
        let account = try KubeloginCache.account(in: cache, origin: "cache", users: users)
        #expect(account?.refreshToken?.reveal() == "kl-rt")
        #expect(account?.settings.clientId == "kl")
        #expect(try KubeloginCache.account(in: cache, origin: "cache", users: []) == nil)
    }

    @Test func `aliases are followed one by one, however much they stand for`() throws {
        let bombs = (1...40).map { "b\($0): &b\($0) [\(String(repeating: "*b\($0 - 1), ", count: 9))]\n" }.joined()
        let text = """
            # clusters of the team:
            # * staging
            b0: &b0 [x]
            \(bombs)
            base: &base {idp-issuer-url: &idp https://idp.example.org, client-id: kube}
            users:
            - name: joe
              user: {auth-provider: {name: oidc, config: {<<: *base, refresh-token: r, extra-scopes: *b40}}}
            - name: jane
              user: &jane
                auth-provider: {name: oidc, config: {idp-issuer-url: *idp, client-id: k2}}
            - name: again
              user: *jane
            - name: loop
              user: &loop {auth-provider: *loop}
            """
        let found = try KubeconfigUsers.accounts(in: bytes(text), origin: "f")
        #expect(found.accounts.map(\.settings.name) == ["joe", "jane", "again"])
        #expect(found.accounts.map(\.settings.clientId) == ["kube", "k2", "k2"])
        #expect(Set(found.accounts.map(\.settings.issuer)) == ["https://idp.example.org"])
    }

    @Test func `a user whose lines are not YAML is a problem, and the others are read`() throws {
        let text = Self.kubeconfig.replacing("- name: kl\n", with: "- name: \"cut\n  user: {\n- name: kl\n")
        let found = try KubeconfigUsers.accounts(in: bytes("\u{FEFF}" + text), origin: "f")
        #expect(found.accounts.map(\.settings.name) == ["joe"])
        #expect(found.problems.count == 1)
        #expect(try KubeconfigUsers.kubelogin(in: bytes(text), origin: "f").accounts.map(\.settings.name) == ["kl"])
    }

    @Test func `kubelogin's further options are taken over, or named`() throws {
        let options = """
            - --oidc-auth-request-extra-params=domain_hint=example.org
                  - --listen-address=127.0.0.1:18000
                  - --oidc-redirect-url-hostname=localhost
                  - --token-cache-dir=~/.cache/kl
                  - --oidc-use-access-token
                  - --grant-type=device-code
                  - --certificate-authority=ca.pem
                  - --oidc-client-id=kl
            """
        let text = Self.kubeconfig.replacing("- --oidc-client-id=kl", with: options)
        let account = try #require(try KubeconfigUsers.kubelogin(in: bytes(text), origin: "f").accounts.first)
        #expect(account.settings.authorizationParameters == ["domain_hint": "example.org"])
        #expect(account.settings.redirectUri == "http://localhost:18000")
        #expect(KubeloginCache.folder(of: account, home: "/home/ada") == "/home/ada/.cache/kl")
        for word in ["certificate authority", "device-code", "--use-access-token"] {
            #expect(account.notes.contains { $0.text.contains(word) }, "\(word)")
        }
    }

    @Test func `a user keeps kubectl's name in addition to the account's`() throws {
        let text = Self.kubeconfig.replacing("name: joe", with: "name: oidc:joe doe")
        let account = try KubeconfigUsers.accounts(in: bytes(text), origin: "config").accounts.first
        #expect(account?.sourceName == "oidc:joe doe")
        #expect(account?.settings.name == "oidc-joe-doe")
    }

    @Test func `KUBECONFIG may name several files`() {
        #expect(KubeconfigUsers.paths(home: "/home/ada", environment: ["KUBECONFIG": "/a:/b"]) == ["/a", "/b"])
        #expect(KubeconfigUsers.paths(home: "/home/ada", environment: [:]) == ["/home/ada/.kube/config"])
    }

    // MARK: Anything else

    private static let hostile = [
        "", "\u{0}\u{0}", "{", "[[[[", "null", "<html>", String(repeating: "[", count: 100_000), "users: &a [*a, *a]",
        #"{"type":7,"refresh_token":[]}"#, "[remote\ntoken", "[r]\ntoken = {",
    ]

    @Test(arguments: hostile)
    func `a foreign file brings no account and no crash`(text: String) {
        let readers: [([UInt8]) throws -> [MovableAccount]] = [
            { [try GcloudCredentials.account(in: $0, origin: "f")] },
            { try AzureTokenCache.accounts(in: $0, profile: $0, origin: "f").accounts },
            { try RcloneConfiguration.accounts(in: $0, origin: "f").accounts },
            { try KubeconfigUsers.accounts(in: $0, origin: "f").accounts },
            { try KubeconfigUsers.kubelogin(in: $0, origin: "f").accounts },
            { try AercAccounts.accounts(in: $0, origin: "f").accounts },
            { [try StoredGrant.account(in: $0, origin: "f")] },
            { try KubeloginCache.account(in: $0, origin: "f", users: []).map { [$0] } ?? [] },
        ]
        for read in readers {
            let accounts = try? read(bytes(text))
            #expect(accounts?.isEmpty ?? true)
        }
    }
}
