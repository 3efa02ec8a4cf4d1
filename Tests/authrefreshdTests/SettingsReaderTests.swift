import AccountStorage
import AuthRefreshInterface
import OAuthClient
import RefreshCore
import Testing
import Varlink

@testable import authrefreshd

struct SettingsReaderTests {
    private let reader = SettingsReader(profiles: ProviderProfiles())

    @Test func `settings become an account's, and come back as they were`() throws {
        let settings = AccountSettings(
            name: "work",
            issuer: "https://login.example/",
            clientId: "app",
            clientAuthentication: "client_secret_post",
            scopes: ["mail"],
            refreshParameters: ["resource": "https://api.example"],
            leadTimeSec: 300,
            rotationGraceSec: 30,
            refreshTokenLifetimeSec: 86_400
        )
        let draft = try reader.draft(settings, clientSecret: "s")
        let account = Account(
            id: AccountID(1),
            name: draft.name,
            issuer: draft.issuer,
            registration: draft.registration,
            policy: draft.policy
        )
        #expect(AccountSettings(account) == settings)
        #expect(draft.registration.clientSecret == Secret("s"))
    }

    @Test(arguments: [
        (AccountSettings(name: "-x", issuer: "https://a.example", clientId: "app"), "name"),
        (AccountSettings(name: "a", clientId: "app"), "issuer"),
        (AccountSettings(name: "a", issuer: "a.example", clientId: "app"), "issuer"),
        (AccountSettings(name: "a", issuer: "http://a.example", clientId: "app"), "issuer"),
        (AccountSettings(name: "a", issuer: "https://a.example?x", clientId: "app"), "issuer"),
        (AccountSettings(name: "a", issuer: "https://u@a.example", clientId: "app"), "issuer"),
        (AccountSettings(name: "a", issuer: "https://a.example", provider: "none", clientId: "app"), "provider"),
        (AccountSettings(name: "a", issuer: "https://a.example", clientId: ""), "clientId"),
        (
            AccountSettings(name: "a", issuer: "https://a.example", clientId: "app", clientAuthentication: "magic"),
            "clientAuthentication"
        ),
        (
            AccountSettings(
                name: "a",
                issuer: "https://a.example",
                clientId: "app",
                clientAuthentication: "client_secret_basic"
            ), "clientAuthentication"
        ),
        (
            AccountSettings(
                name: "a",
                issuer: "https://a.example",
                clientId: "app",
                refreshParameters: ["refresh_token": "x"]
            ), "refreshParameters"
        ),
        (AccountSettings(name: "a", issuer: "https://a.example", clientId: "app", leadTimeSec: 0), "leadTimeSec"),
        (
            AccountSettings(name: "a", issuer: "https://a.example", clientId: "app", rotationGraceSec: -1),
            "rotationGraceSec"
        ),
    ])
    func `a setting that cannot be used is named`(settings: AccountSettings, field: String) throws {
        let error = #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil) }
        let refusal = try #require(error)
        #expect(refusal.name == InvalidSettingsError.name)
        let parameters = String(decoding: refusal.parameters, as: UTF8.self)
        #expect(parameters.contains("\"field\":\"\(field)\""))
    }
}
