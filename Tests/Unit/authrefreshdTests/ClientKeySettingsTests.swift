import AccountStorage
import AuthRefreshInterface
import OAuthMessages
@testable import RefreshCore
import Testing
import Varlink

@testable import authrefreshd

/// Accounts whose client has a key, or whose tokens are bound to a key.
struct ClientKeySettingsTests {
    private let reader = SettingsReader(profiles: ProviderProfiles())
    /// The key from RFC 7515 appendix A.3.1.
    private static let key = #"""
        {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}
        """#

    private func settings(_ method: String? = nil, teamID: String? = nil, dpop: Bool? = nil) -> AccountSettings {
        AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") {
            $0.clientAuthentication = method
            $0.clientKeyId = "k1"
            $0.teamId = teamID
            $0.dpop = dpop
        }
    }

    @Test(arguments: [nil, "private_key_jwt"] as [String?]) func `a client may have a key`(method: String?) throws {
        let registration = try reader.draft(settings(method), clientSecret: nil, clientKey: Self.key).registration
        #expect(registration.clientKey == Secret(Self.key))
        #expect(registration.clientKeyID == "k1")
        #expect(registration.dpopKey == nil)
    }

    @Test(
        arguments: [
            ("private_key_jwt", nil, "clientAuthentication"), ("tls_client_auth", nil, "clientAuthentication"),
            ("client_secret_jwt", nil, "clientAuthentication"), ("tls_client_auth", key, "clientKey"),
            ("private_key_jwt", "no key", "clientKey"), (nil, "-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "clientKey"),
        ] as [(String?, String?, String)]
    ) func `the requirements of a method are checked`(method: String?, key: String?, field: String) throws {
        let error = #expect(throws: VarlinkError.self) {
            try reader.draft(settings(method), clientSecret: nil, clientKey: key)
        }
        let parameters = String(decoding: try #require(error).parameters, as: UTF8.self)
        #expect(parameters.contains("\"field\":\"\(field)\""))
        #expect(!parameters.contains("jpsQnnGQ"))
    }

    @Test func `an assertion in a file replaces secret and key, and does not follow the account silently`() throws {
        var settings = settings()
        settings.clientKeyId = nil
        settings.clientAssertionFile = "/run/token"
        settings.grantType = "client_credentials"
        let draft = try reader.draft(settings, clientSecret: nil)
        #expect(draft.registration.clientAssertionFile == "/run/token")
        #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: "s") }
        #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil, clientKey: Self.key) }
        for (method, file) in [("client_secret_post", "/run/token"), (nil, "token")] as [(String?, String)] {
            var other = settings
            (other.clientAuthentication, other.clientAssertionFile) = (method, file)
            #expect(throws: VarlinkError.self) { try reader.draft(other, clientSecret: nil) }
        }
        let moved = UpdateAccount.Parameters(account: "a") { $0.issuer = "https://b.example" }
        #expect(throws: VarlinkError.self) { try reader.account(draft.account, changedBy: moved) }
        var kept = moved
        kept.keepSecret = true
        #expect(try reader.account(draft.account, changedBy: kept).registration.clientAssertionFile == "/run/token")
        kept.keepSecret = false
        #expect(throws: VarlinkError.self) { try reader.account(draft.account, changedBy: kept) }
    }

    @Test func `the end of a client secret belongs to that secret`() throws {
        let account = try reader.draft(settings(), clientSecret: "s", clientKey: nil).account
        var change = UpdateAccount.Parameters(account: "a")
        change.clientSecretExpiresAtUSec = 5_000_000
        let dated = try reader.account(account, changedBy: change)
        #expect(dated.registration.clientSecretExpiresAt == Timestamp(microseconds: 5_000_000))
        let renamed = UpdateAccount.Parameters(account: "a") { $0.clientKeyId = "k2" }
        #expect(try reader.account(dated, changedBy: renamed).registration.clientSecretExpiresAt != nil)
        change.clientSecretExpiresAtUSec = nil
        change.clientSecret = "another"
        #expect(try reader.account(dated, changedBy: change).registration.clientSecretExpiresAt == nil)
        let open = try reader.draft(settings(), clientSecret: nil).account
        change.clientSecret = nil
        change.clientSecretExpiresAtUSec = 5_000_000
        #expect(throws: VarlinkError.self) { try reader.account(open, changedBy: change) }
    }

    @Test func `Apple's team needs the key and allows no secret`() throws {
        #expect(throws: VarlinkError.self) { try reader.draft(settings(teamID: "T"), clientSecret: nil) }
        let apple = settings("client_secret_post", teamID: "T")
        #expect(try reader.draft(apple, clientSecret: nil, clientKey: Self.key).registration.teamID == "T")
    }

    @Test func `an account with DPoP gets a key of its own, and keeps it when it is changed`() throws {
        let draft = try reader.draft(settings(dpop: true), clientSecret: nil)
        let key = try #require(draft.registration.dpopKey)
        #expect(key.count == 32)
        #expect(try reader.draft(settings(dpop: true), clientSecret: nil).registration.dpopKey != key)
        let account = Account(
            id: AccountID(1),
            name: draft.name,
            issuer: draft.issuer,
            registration: draft.registration
        )
        let change = UpdateAccount.Parameters(account: "a") { $0.scopes = ["mail"] }
        #expect(try reader.account(account, changedBy: change).registration.dpopKey == key)
        #expect(AccountSettings(account).dpop == true)
    }

    @Test func `only an account with a key can accept Bearer tokens`() throws {
        var asked = settings(dpop: true)
        asked.acceptBearer = true
        let draft = try reader.draft(asked, clientSecret: nil)
        #expect(draft.registration.acceptsBearer)
        let account = Account(
            id: AccountID(1),
            name: draft.name,
            issuer: draft.issuer,
            registration: draft.registration
        )
        #expect(AccountSettings(account).acceptBearer == true)
        let change = UpdateAccount.Parameters(account: "a", clear: ["acceptBearer"])
        #expect(try reader.account(account, changedBy: change).registration.acceptsBearer == false)
        asked.dpop = nil
        let error = #expect(throws: VarlinkError.self) { try reader.draft(asked, clientSecret: nil) }
        let parameters = String(decoding: try #require(error).parameters, as: UTF8.self)
        #expect(parameters.contains(#""field":"acceptBearer""#))
    }

    @Test func `another issuer gets another DPoP key, the same one each time the change is computed`() throws {
        let draft = try reader.draft(settings(dpop: true), clientSecret: nil)
        let account = Account(
            id: AccountID(1),
            name: draft.name,
            issuer: draft.issuer,
            registration: draft.registration
        )
        let moved = UpdateAccount.Parameters(account: "a", keepSecret: false) { $0.issuer = "https://b.example" }
        let next = Secret.newDPoPKey()
        let own = SettingsReader(profiles: ProviderProfiles(), newDPoPKey: { next })
        for _ in 0..<2 { #expect(try own.account(account, changedBy: moved).registration.dpopKey == next) }
        let plain = try reader.draft(settings(), clientSecret: nil)
        let other = Account(id: AccountID(2), name: plain.name, issuer: plain.issuer, registration: plain.registration)
        #expect(try own.account(other, changedBy: moved).registration.dpopKey == nil)
    }

    @Test(arguments: [("HS256", true, true), ("HS256", false, false), ("ES256", false, true), ("none", true, false)])
    func `an ID token algorithm must be one that can be verified`(
        algorithm: String,
        hasSecret: Bool,
        isTaken: Bool
    ) throws {
        var asked = settings()
        asked.idTokenAlgorithm = algorithm
        let draft = try? reader.draft(asked, clientSecret: hasSecret ? "s" : nil)
        #expect(draft?.registration.idTokenAlgorithm == (isTaken ? algorithm : nil))
        guard let draft else { return }
        let account = Account(
            id: AccountID(1),
            name: draft.name,
            issuer: draft.issuer,
            registration: draft.registration
        )
        #expect(AccountSettings(account).idTokenAlgorithm == algorithm)
    }

    @Test func `a client secret follows its account to another server only if the owner says so`() throws {
        let draft = try reader.draft(settings(), clientSecret: "s3cret")
        let account = Account(
            id: AccountID(1),
            name: draft.name,
            issuer: draft.issuer,
            registration: draft.registration
        )
        func moved(_ keepSecret: Bool?) throws -> Secret? {
            let change = UpdateAccount.Parameters(account: "a", keepSecret: keepSecret) {
                $0.issuer = "https://b.example"
            }
            return try reader.account(account, changedBy: change).registration.clientSecret
        }
        let error = #expect(throws: VarlinkError.self) { try moved(nil) }
        #expect(String(decoding: try #require(error).parameters, as: UTF8.self).contains("secret"))
        #expect(try moved(false) == nil)
        #expect(try moved(true) == Secret("s3cret"))
    }

    @Test func `a key stays with the server, and is dropped if the account moves`() throws {
        let draft = try reader.draft(settings(), clientSecret: nil, clientKey: Self.key)
        let account = Account(
            id: AccountID(1),
            name: draft.name,
            issuer: draft.issuer,
            registration: draft.registration
        )
        let renamed = UpdateAccount.Parameters(account: "a") { $0.clientKeyId = "k2" }
        let kept = try reader.account(account, changedBy: renamed).registration
        #expect(kept.clientKey == Secret(Self.key))
        #expect(kept.clientKeyID == "k2")
        let moved = UpdateAccount.Parameters(account: "a", keepSecret: false) { $0.issuer = "https://b.example" }
        #expect(try reader.account(account, changedBy: moved).registration.clientKey == nil)
        let cleared = UpdateAccount.Parameters(account: "a", clear: ["clientKey", "clientKeyId"])
        let bare = try reader.account(account, changedBy: cleared).registration
        #expect(bare.clientKey == nil && bare.clientKeyID == nil)
    }
}
