import AuthRefreshInterface
import Basics
@testable import authimport
import RefreshCore
import Testing

/// No secret goes anywhere but to the server that the source names.
struct NamedServerTests {
    private static let token = #"{"access_token":"at","token_type":"Bearer","refresh_token":"RT"}"#
    private static let place = "https://as.example.net:8443/x/token"

    private static func rclone(_ settings: String) -> MovableAccount? {
        let text = "[r]\n\(settings)\nclient_id = c\nclient_secret = s\ntoken = \(token)\n"
        return try? RcloneConfiguration.accounts(in: Array(text.utf8), origin: "f").accounts.first
    }

    private static func azure(_ host: String) -> MovableAccount? {
        let text = """
            {"RefreshToken": {"k": {"secret": "RT", "home_account_id": "a.t", "environment": "\(host)", "client_id": "c"}}}
            """
        return try? AzureTokenCache.accounts(in: Array(text.utf8), profile: nil, origin: "f").accounts.first
    }

    private static func onedrive(_ settings: String) -> MovableAccount? {
        try? OneDriveClient.account(
            in: Array("RT\n".utf8),
            settings: Array(settings.utf8),
            folder: "onedrive",
            origin: "f"
        )
    }

    /// Each source that names a server that no profile has, with the address of its token endpoint.
    private static let others: [(String, String, MovableAccount?)] = [
        ("rclone's token_url", place, rclone("type = drive\ntoken_url = \(place)")),
        ("rclone's tokenURL", place, rclone("type = jottacloud\ntokenURL = \(place)")),
        (
            "rclone's region de", "https://login.microsoftonline.de/common/oauth2/v2.0/token",
            rclone("type = onedrive\nregion = de")
        ),
        ("Azure CLI's environment", "https://adfs.example.net/t/oauth2/v2.0/token", azure("adfs.example.net")),
        (
            "OneDrive's DE", "https://login.microsoftonline.de/common/oauth2/v2.0/token",
            onedrive("azure_ad_endpoint = \"DE\"")
        ),
        (
            "aerc's token_endpoint", place,
            try? AercAccounts.accounts(
                in: Array(
                    "[a]\nsource = imaps+xoauth2://me%40x:RT@h?client_id=c&token_endpoint=\(place)\n".utf8
                ),
                origin: "f"
            ).accounts.first
        ),
        (
            "a file's token_uri", place,
            try? StoredGrant.account(
                in: Array(#"{"client_id":"c","refresh_token":"RT","token_uri":"\#(place)"}"#.utf8),
                origin: "f"
            )
        ),
    ]

    @Test func `a token endpoint that no profile has is kept as it is`() {
        for (source, endpoint, account) in Self.others {
            #expect(account?.refreshToken?.reveal() == "RT", "\(source)")
            #expect(account?.settings.provider == nil, "\(source)")
            #expect(account?.settings.providerSettings?["token_endpoint"] == endpoint, "\(source)")
        }
    }

    @Test func `regions and clouds of a provider are settings of the account`() {
        let zoho = Self.rclone("type = zoho\nregion = com.au")?.settings
        #expect(zoho?.provider == "zoho" && zoho?.variables == ["data_center": "com.au"])
        let china = Self.rclone("type = onedrive\nregion = cn\ntenant = t-1")
        #expect(china?.settings.variables == ["cloud": "china", "tenant": "t-1"])
        #expect(china?.notes.contains { $0.text.contains("cloud 'china'") } == true)
        #expect(Self.azure("login.microsoftonline.us")?.settings.variables == ["cloud": "usgov", "tenant": "t"])
        #expect(Self.onedrive("azure_ad_endpoint = \"CN\"")?.settings.variables == ["cloud": "china"])
        #expect(Self.onedrive("azure_tenant_id = \"t-2\"")?.settings.variables == ["tenant": "t-2"])
    }

    @Test(arguments: [
        "type = zoho", "type = onedrive\nregion = mars", "type = jottacloud",
        "type = drive\nauth_url = https://a.example",
    ])
    func `without a known server, rclone's settings are taken without the grant`(_ settings: String) {
        let account = Self.rclone(settings)
        #expect(account?.refreshToken == nil && account?.clientSecret == nil)
        #expect(account?.settings.provider == nil && account?.settings.issuer == nil)
        #expect(account?.notes.isEmpty == false)
    }

    @Test func `an unknown cloud of OneDrive brings no grant`() {
        let account = Self.onedrive("azure_ad_endpoint = \"XX\"")
        #expect(account?.refreshToken == nil && account?.notes.count == 1)
    }

    @Test func `Keycloak's issuer is the address before its endpoints`() {
        let realm = "https://id.example.com/auth/realms/x"
        let server = NamedServer(tokenEndpoint: realm + "/protocol/openid-connect/token")
        #expect(server?.issuer == realm && server?.notes.isEmpty == true)
    }
}
