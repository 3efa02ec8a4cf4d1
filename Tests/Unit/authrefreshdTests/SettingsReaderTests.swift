import AccountStorage
import AuthRefreshInterface
import OAuthClient
@testable import RefreshCore
import Testing
import Varlink

@testable import authrefreshd

struct SettingsReaderTests {
    private let reader = SettingsReader(profiles: ProviderProfiles())

    @Test func `settings survive the conversion to an account and back`() throws {
        let settings = AccountSettings(name: "work", issuer: "https://login.example/", clientId: "app") {
            $0.clientAuthentication = "client_secret_post"
            $0.grantType = "client_credentials"
            $0.scopes = ["mail"]
            $0.refreshParameters = ["resource": "https://api.example"]
            $0.loginBrowser = "firefox.desktop"
            $0.loginWindow = "temporary-profile"
            $0.leadTimeSec = 300
            $0.rotationGraceSec = 30
            $0.refreshTokenLifetimeSec = 86_400
            $0.allowedUnits = ["mbsync@work.service", "session-2.scope"]
            $0.allowedExecutables = ["/usr/bin/mbsync"]
            $0.urls = ["https://git.example.org/team", "http://127.0.0.1:3000"]
            $0.username = "oauth2"
            $0.tokenFile = "work.token"
            $0.tokenFileKind = "bearer-header"
        }
        let draft = try reader.draft(settings, clientSecret: "s")
        #expect(AccountSettings(draft.account) == settings)
        #expect(draft.registration.clientSecret == Secret("s"))
    }

    @Test(arguments: ["mail\n", "\u{1b}[31m", "a\0b", "\u{7f}"])
    func `a scope with a control character is refused`(scope: String) {
        let settings = AccountSettings(name: "work", issuer: "https://login.example/", clientId: "app") {
            $0.scopes = ["mail", scope]
        }
        #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil) }
    }

    @Test(arguments: ["", "usual", "Private", "private --x"])
    func `an unknown kind of window is refused`(window: String) {
        let settings = AccountSettings(name: "work", issuer: "https://login.example/", clientId: "app") {
            $0.loginWindow = window
        }
        #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil) }
    }

    @Test func `a command of an earlier version is kept, shown and never started`() throws {
        let settings = AccountSettings(name: "work", issuer: "https://login.example/", clientId: "app")
        let account = try reader.draft(settings, clientSecret: nil).account
        var old = account
        old.registration.loginBrowser = "sh -c id"
        #expect(AccountSettings(old).loginBrowser == "sh -c id")
        func changed(_ change: (inout AccountSettings) -> Void, clear: [String]? = nil) throws -> String? {
            let parameters = UpdateAccount.Parameters(account: "work", clear: clear, change)
            return try reader.account(old, changedBy: parameters).registration.loginBrowser
        }
        #expect(try changed { $0.leadTimeSec = 300 } == "sh -c id")
        #expect(try changed { $0.loginBrowser = "firefox" } == "firefox")
        #expect(try changed({ _ in }, clear: ["loginBrowser"]) == nil)
        for command in ["sh -c id", "/usr/bin/firefox"] {
            #expect(throws: VarlinkError.self) { try changed { $0.loginBrowser = command } }
            #expect(throws: VarlinkError.self) {
                var settings = settings
                settings.loginBrowser = command
                _ = try reader.draft(settings, clientSecret: nil)
            }
        }
    }

    @Test func `a change of settings keeps the grant's person and what is known about the server`() throws {
        let draft = try reader.draft(
            AccountSettings(name: "work", issuer: "https://login.example/", clientId: "app"),
            clientSecret: "s"
        )
        let account = Account(
            id: AccountID(1),
            name: draft.name,
            issuer: draft.issuer,
            registration: draft.registration,
            basicCredentialEncoding: .raw,
            grantFacts: GrantFacts(subject: "alice", keptFields: ["realmId": "7"])
        )
        let change = UpdateAccount.Parameters(account: "work") { $0.leadTimeSec = 300 }
        let changed = try reader.account(account, changedBy: change)
        #expect(changed.policy.leadTime == .seconds(300))
        #expect(changed.grantFacts == account.grantFacts)
        #expect(changed.basicCredentialEncoding == .raw)
    }

    @Test(arguments: [
        ("client_credentials", nil, nil), ("client_credentials", "none", "s"), ("password", nil, "s"), ("", nil, "s"),
    ])
    func `a service account needs a known grant and a client that authenticates`(
        grantType: String,
        method: String?,
        secret: String?
    ) throws {
        let settings = AccountSettings(name: "ci", issuer: "https://login.example/", clientId: "ci") {
            $0.clientAuthentication = method
            $0.grantType = grantType
        }
        let error = #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: secret) }
        #expect(error.map { String(decoding: $0.parameters, as: UTF8.self).contains("grantType") } == true)
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
            AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") {
                $0.clientAuthentication = "magic"
            },
            "clientAuthentication"
        ),
        (
            AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") {
                $0.clientAuthentication = "client_secret_basic"
            }, "clientAuthentication"
        ),
        (
            AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") {
                $0.refreshParameters = ["refresh_token": "x"]
            }, "refreshParameters"
        ),
        (
            AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") { $0.leadTimeSec = 0 },
            "leadTimeSec"
        ),
        (
            AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") { $0.rotationGraceSec = -1 },
            "rotationGraceSec"
        ),
    ])
    func `an invalid setting is named`(settings: AccountSettings, field: String) throws {
        let error = #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil) }
        let refusal = try #require(error)
        #expect(refusal.name == InvalidSettingsError.name)
        let parameters = String(decoding: refusal.parameters, as: UTF8.self)
        #expect(parameters.contains("\"field\":\"\(field)\""))
    }

    @Test(arguments: ["mbsync", ".service", "a b.service", "ü.service", "x*.service", "user.slice", "a.service/x", ""])
    func `a name that is not a unit with processes is refused`(unit: String) throws {
        let settings = AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") {
            $0.allowedUnits = [unit]
        }
        let error = #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil) }
        #expect(error.map { String(decoding: $0.parameters, as: UTF8.self).contains("allowedUnits") } == true)
    }

    @Test(arguments: ["mbsync", "bin/mbsync", "", "/a\nb", "/" + String(repeating: "a", count: 4096)])
    func `a path that is not absolute is refused`(path: String) throws {
        let settings = AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") {
            $0.allowedExecutables = [path]
        }
        let error = #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil) }
        #expect(error.map { String(decoding: $0.parameters, as: UTF8.self).contains("allowedExecutables") } == true)
    }

    @Test func `the settings for delivering tokens are checked`() throws {
        let refusal = { (change: (inout AccountSettings) -> Void) throws -> VarlinkError in
            let settings = AccountSettings(name: "a", issuer: "https://a.example", clientId: "app", change)
            return try #require(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil) }
        }
        let field = { (error: VarlinkError) in String(decoding: error.parameters, as: UTF8.self) }
        for url in ["git.example", "http://git.example", "https://me@git.example", "https://git.example?x", ""] {
            #expect(try field(refusal { $0.urls = [url] }).contains(#""field":"urls""#))
        }
        let tooMany = try refusal { $0.urls = Array(repeating: "https://a", count: CallerLimits.urlsMax + 1) }
        #expect(tooMany.name == LimitExceededError.name && field(tooMany).contains("urls"))
        for name in ["", "a\nb", String(repeating: "a", count: 256)] {
            #expect(try field(refusal { $0.username = name }).contains(#""field":"username""#))
        }
        for name in ["", "../x", ".x", "a/b", "-x"] {
            #expect(try field(refusal { $0.tokenFile = name }).contains(#""field":"tokenFile""#))
        }
        for (file, kind) in [("x", "secret"), (nil, "json")] {
            let error = try refusal { ($0.tokenFile, $0.tokenFileKind) = (file, kind) }
            #expect(field(error).contains(#""field":"tokenFileKind""#))
        }
        #expect(try field(refusal { ($0.tokenFile, $0.confirm) = ("x", true) }).contains(#""field":"confirm""#))
        for seconds: Int64 in [0, -1, .max] {
            #expect(try field(refusal { $0.forgetAfterSec = seconds }).contains(#""field":"forgetAfterSec""#))
        }
        let ofAService = try refusal { ($0.forgetAfterSec, $0.grantType) = (3600, "client_credentials") }
        #expect(!field(ofAService).isEmpty)
    }

    @Test func `a list of callers has a limit, and an empty list means no list`() throws {
        var settings = AccountSettings(name: "a", issuer: "https://a.example", clientId: "app") { $0.allowedUnits = [] }
        #expect(try reader.draft(settings, clientSecret: nil).allowedCallers == nil)
        settings.allowedUnits = (1...CallerLimits.allowedCallersMax).map { "a\($0).service" }
        #expect(try reader.draft(settings, clientSecret: nil).allowedCallers?.units.count == 64)
        settings.allowedExecutables = ["/one/too/many"]
        let error = #expect(throws: VarlinkError.self) { try reader.draft(settings, clientSecret: nil) }
        #expect(error?.name == LimitExceededError.name)
    }

    @Test func `a change can clear each list separately`() throws {
        let account = Account(
            id: AccountID(1),
            name: try #require(AccountName("a")),
            issuer: try Issuer(url: "https://a.example"),
            registration: ClientRegistration(clientID: "app"),
            allowedCallers: AllowedCallers(units: ["a.service"], executables: ["/a"])
        )
        let changed = { (clear: [String]) in
            try reader.account(account, changedBy: UpdateAccount.Parameters(account: "a", clear: clear)).allowedCallers
        }
        #expect(try changed([]) == account.allowedCallers)
        #expect(try changed(["allowedUnits"]) == AllowedCallers(units: [], executables: ["/a"]))
        #expect(try changed(["allowedUnits", "allowedExecutables"]) == nil)
    }
}
