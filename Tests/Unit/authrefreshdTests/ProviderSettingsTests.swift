import AccountStorage
import AuthRefreshInterface
import Foundation
import OAuthMessages
@testable import RefreshCore
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

/// Settings of accounts that replace those of their provider's profile.
struct ProviderSettingsTests {
    /// Each key of the profile language with a value, taken from the sample.
    private static let samples: [(key: String, value: String)] = {
        let text = (try? SourceTree.text("etc/provider-profile.yaml")) ?? ""
        return text.matches(of: #/\n#?([a-z_]+): (.*)/#).map { match in
            let value = String(match.2)
            let isQuoted = value.hasPrefix("\"") && value.hasSuffix("\"")
            return (String(match.1), isQuoted ? String(value.dropFirst().dropLast()) : value)
        }
    }()

    private static let own = samples.filter { !ProviderProfiles.keysOfProfiles.contains($0.key) }.map(\.key)

    private func profiles(_ yaml: String) throws -> ProviderProfiles {
        let folder = try TemporaryFolder()
        try folder.write(yaml, to: "a/p.yaml")
        return try ProviderProfiles(folders: [folder.path + "/a"])
    }

    private func settings(_ own: [String: String], provider: String? = "p") -> AccountSettings {
        let issuer = "https://as.example.org"
        return AccountSettings(name: "work", issuer: issuer, provider: provider, clientId: "app") {
            $0.providerSettings = own
        }
    }

    /// The profile that applies to an account with these settings.
    private func profile(_ own: [String: String], over yaml: String, provider: String? = "p") throws -> ProviderProfile
    {
        let profiles = try profiles(yaml)
        let draft = try SettingsReader(profiles: profiles).draft(settings(own, provider: provider), clientSecret: nil)
        var settings = RefreshConfiguration(profiles: profiles)
        let profile = settings.profile(for: draft.account)
        return try #require(profile)
    }

    @Test func `every key of the profile language is sampled`() {
        #expect(Set(Self.samples.map(\.key)) == Set(ProviderProfile.keys))
        #expect(Self.own.count == ProviderProfile.keys.count - ProviderProfiles.keysOfProfiles.count)
    }

    @Test(arguments: own)
    func `account settings use the profile's syntax and apply to requests`(key: String) throws {
        let value = try #require(Self.samples.first { $0.key == key }?.value)
        // A text needs quotes in the file if YAML would otherwise read another type.
        let written = value.first == "[" || value.first == "{" || Double(value) != nil ? value : "'\(value)'"
        let expected = try #require(try profiles("name: p\n\(key): \(written)\n").named("p"))
        #expect(try profile([key: value], over: "name: p\n") == expected)
        if !["refresh_with", "refresh_grant_type", "refresh_token_parameter", "refresh_method", "body_format", "pkce"]
            .contains(key)
        {
            // These samples show the default.
            #expect(expected != ProviderProfile(name: "p"))
        }
        // An account without a provider can have the setting, too.
        var alone = try profile([key: value], over: "name: p\n", provider: nil)
        alone.name = "p"
        #expect(alone == expected)
    }

    @Test func `an empty setting removes the profile's value and no other`() throws {
        let yaml = "name: p\nscope_separator: \",\"\npkce: none\nheaders: {Origin: http://localhost}\n"
        let profile = try profile(["scope_separator": "", "headers": "{X-A: b}"], over: yaml)
        #expect(profile.scopeSeparator == nil)
        #expect(profile.headers == ["X-A": "b"])
        #expect(profile.signIn.pkce == .unsupported)
    }

    @Test(arguments: ["~", "#", "'", "\"", "-", ":"])
    func `a text is taken literally, whatever YAML makes of its characters`(text: String) throws {
        #expect(try profile(["scope_separator": text], over: "name: p\n").scopeSeparator == text)
    }

    @Test func `variables are inserted in an account's endpoints`() throws {
        let yaml =
            "name: p\nvariables: [{name: realm, help: r, default: a}]\ntoken_endpoint: https://as.example/{realm}\n"
        let profile = try profile(["token_endpoint": "https://as.example/v2/{realm}/token"], over: yaml)
        #expect(profile.tokenEndpoint?.url == "https://as.example/v2/a/token")
    }

    @Test(arguments: [
        ("tokn_path", "data", "is not a known key"), ("pkce", "plain", "must be one of s256, none"),
        ("redirect_port", "0", "must be a port from 1"), ("scopes", "[a", "has brackets"),
        ("headers", "{Cookie: a}", "cannot set the header 'Cookie'"),
        ("name", "q", "accounts cannot set it"), ("issuer", "https://b.example", "accounts cannot set it"),
        ("token_endpoint", "http://as.example/token", "must be an https URL"),
    ])
    func `an invalid setting is refused by its key`(key: String, value: String, reason: String) throws {
        let error = #expect(throws: VarlinkError.self) { try profile([key: value], over: "name: p\n") }
        let refusal = String(decoding: try #require(error).parameters, as: UTF8.self)
        #expect(refusal.contains("\"field\":\"providerSettings\"") && refusal.contains(reason), "\(refusal)")
        #expect(refusal.contains(key))
    }

    @Test(arguments: ["p", nil])
    func `settings that no longer fit the profile lead nowhere, and are checked once`(provider: String?) throws {
        let account = try account(["token_endpoint": "https://as.example/{realm}/token"], provider: provider)
        let yaml = "name: p\ntoken_endpoint: https://as.example/token\nrevocation_endpoint: https://as.example/revoke\n"
        var settings = RefreshConfiguration(profiles: try profiles(yaml))
        // The variable was removed from the profile.
        let found = settings.profile(for: account)
        let profile = try #require(found)
        #expect(profile.tokenEndpoint?.host.hasSuffix(".invalid") == true)
        #expect(profile.revocationEndpoint == nil)
        #expect(profile == RefreshConfiguration.leadingNowhere)
        #expect(settings.adapted == [ProfileChoice(account): profile])
    }

    @Test(arguments: [
        UpdateAccount.Parameters(account: "work", keepSecret: false) { $0.provider = "q" },
        UpdateAccount.Parameters(account: "work", keepSecret: false) { $0.issuer = "https://other.example" },
        UpdateAccount.Parameters(account: "work", clear: ["provider"], keepSecret: false),
        UpdateAccount.Parameters(account: "work", clear: ["provider"], keepSecret: false) {
            $0.issuer = "https://other.example"
        },
    ])
    func `settings for one server are not kept for another`(change: UpdateAccount.Parameters) throws {
        let folder = try TemporaryFolder()
        for name in ["p", "q"] { try folder.write("name: \(name)\n", to: "a/\(name).yaml") }
        let reader = SettingsReader(profiles: try ProviderProfiles(folders: [folder.path + "/a"]))
        let account = try account(["token_endpoint": "https://as.example/token", "pkce": "none"])
        #expect(try reader.account(account, changedBy: change).providerSettings.isEmpty)
        var renewed = change
        renewed.settings.providerSettings = ["pkce": "none"]
        #expect(try reader.account(account, changedBy: renewed).providerSettings == ["pkce": "none"])
        let same = UpdateAccount.Parameters(account: "work") {
            $0.issuer = "https://as.example.org"
            $0.leadTimeSec = 60
        }
        #expect(try reader.account(account, changedBy: same).providerSettings == account.providerSettings)
    }

    @Test func `clearing the issuer also clears its settings, unless it is the provider's own`() throws {
        let said = ["token_endpoint": "https://as.example.org/own", "pkce": "none"]
        let account = try account(said)
        let emptied = UpdateAccount.Parameters(account: "work", clear: ["issuer"], keepSecret: false)
        let elsewhere = SettingsReader(profiles: try profiles("name: p\nissuer: https://p.example\n"))
        #expect(try elsewhere.account(account, changedBy: emptied).providerSettings.isEmpty)
        var again = emptied
        again.settings.provider = "p"
        #expect(try elsewhere.account(account, changedBy: again).providerSettings.isEmpty)
        let same = SettingsReader(profiles: try profiles("name: p\nissuer: \(account.issuer.url)\n"))
        #expect(try same.account(account, changedBy: emptied).providerSettings == said)
    }

    @Test func `a cleared issuer becomes the provider's, and is required if the provider has none`() throws {
        let own = UpdateAccount.Parameters(account: "work", clear: ["issuer"], keepSecret: false)
        let account = try account([:])
        let known = SettingsReader(profiles: try profiles("name: p\nissuer: https://p.example\n"))
        #expect(try known.account(account, changedBy: own).issuer.url == "https://p.example")
        let unknown = SettingsReader(profiles: try profiles("name: p\n"))
        let refusal = #expect(throws: VarlinkError.self) { try unknown.account(account, changedBy: own) }
        #expect(refusal.map { String(decoding: $0.parameters, as: UTF8.self).contains("\"field\":\"issuer\"") } == true)
    }

    @Test func `the size of settings is checked before they are read`() throws {
        let reader = SettingsReader(profiles: try profiles("name: p\n"))
        let long = "[" + String(repeating: "a", count: CallerLimits.settingsBytesMax) + "[["
        let change = UpdateAccount.Parameters(account: "work") { $0.providerSettings = ["scopes": long] }
        let account = try account([:])
        let edited = #expect(throws: VarlinkError.self) { try reader.account(account, changedBy: change) }
        #expect(edited?.name == LimitExceededError.name)
        let added = #expect(throws: VarlinkError.self) {
            try reader.draft(settings(["scopes": long]), clientSecret: nil)
        }
        #expect(added?.name == LimitExceededError.name)
    }

    @Test func `an account's settings also change its policy`() throws {
        var settings = RefreshConfiguration(profiles: try profiles("name: p\nrotation_grace: 30s\n"))
        let usual = settings.policy(of: try account([:]))
        #expect(usual.rotationGrace == .seconds(30))
        let own = settings.policy(of: try account(["rotation_grace": "5m"]))
        #expect(own.rotationGrace == .seconds(300))
        let limits = settings.limits(for: try account(["max_concurrent_refreshes": "1"]))
        #expect(limits.concurrent == 1)
    }

    @Test func `secrets are dropped if an account moves to another address, and kept otherwise`() throws {
        let reader = SettingsReader(profiles: try profiles("name: p\n"))
        let account = try account(["pkce": "none"])
        let secret = { (own: [String: String], keep: Bool?) in
            let change = UpdateAccount.Parameters(account: "work", keepSecret: keep) { $0.providerSettings = own }
            return try reader.account(account, changedBy: change).registration.clientSecret
        }
        #expect(try secret(["scope_separator": ","], nil) == Secret("s"))
        for key in ["token_endpoint", "jwks_uri"] {
            let elsewhere = [key: "https://elsewhere.example/x"]
            // The secret is not erased silently.
            let refusal = #expect(throws: VarlinkError.self) { try secret(elsewhere, nil) }
            #expect(refusal?.name == InvalidSettingsError.name)
            #expect(try secret(elsewhere, false) == nil)
            #expect(try secret(elsewhere, true) == Secret("s"))
        }
    }

    private func account(_ own: [String: String], provider: String? = "p") throws -> Account {
        Account(
            id: AccountID(1),
            name: try #require(AccountName("work")),
            issuer: try Issuer(url: "https://as.example.org"),
            provider: provider,
            providerSettings: own,
            registration: ClientRegistration(clientID: "app", clientSecret: Secret("s"))
        )
    }
}
