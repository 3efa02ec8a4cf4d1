import Foundation
@testable import RefreshCore
import TestSupport
import Testing
import Yams

@testable import OAuthMessages

struct ProviderProfileTests {
    /// `etc/providers.d` of this checkout.
    static let folder = SourceTree.root.appending(path: "etc/providers.d")

    private static func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "yaml" }
    }

    private func decode(_ yaml: String) throws -> ProviderProfile {
        try YAMLDecoder().decode(ProviderProfile.self, from: yaml)
    }

    @Test func `every shipped profile is read, named like its file and documented`() throws {
        let files = try Self.files()
        #expect(files.count >= 30)
        for file in files {
            let profile = try decode(try String(contentsOf: file, encoding: .utf8))
            #expect(profile.name == file.deletingPathExtension().lastPathComponent)
            #expect(profile.documentation?.hasPrefix("https://") == true, "\(file.lastPathComponent)")
        }
    }

    @Test func `both of GitHub's profiles know the issuer that its answers name`() throws {
        for name in ["github", "github-classic"] {
            let file = Self.folder.appendingPathComponent(name + ".yaml")
            let profile = try decode(try String(contentsOf: file, encoding: .utf8))
            let names = profile.issuerAliases + [profile.issuer?.url]
            #expect(names.contains("https://github.com/login/oauth"))
        }
    }

    @Test func `facts that are not confirmed are marked in the same way everywhere`() throws {
        for file in try Self.files() {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where line.hasPrefix("#") {
                let words = line.lowercased()
                #expect(!words.contains("from memory") && !words.contains("unconfirmed"), "\(file.lastPathComponent)")
                let marks = words.contains("not confirmed")
                #expect(!marks || line.hasPrefix("# not confirmed: "), "\(file.lastPathComponent): \(line)")
            }
        }
    }

    @Test func `every profile that asks for offline_access says whether it asks for consent`() throws {
        for file in try Self.files() {
            let text = try String(contentsOf: file, encoding: .utf8)
            let profile = try decode(text)
            let scopes = profile.signIn.scopes + profile.scopesByPurpose.values.flatMap(\.self)
            guard scopes.contains("offline_access") else { continue }
            #expect(text.contains("\nconsent_prompt: "), "\(file.lastPathComponent)")
        }
    }

    @Test func `the sample explains every key, and its values can be used`() throws {
        let file = Self.folder.deletingLastPathComponent().appendingPathComponent("provider-profile.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let keys = text.matches(of: #/(?:^|\n)#?([a-z_]+):/#).map { String($0.1) }
        #expect(keys.sorted() == ProviderProfile.keys.sorted())
        let profile = try decode(text.replacing(#/\n#(?=[a-z_]+:)/#, with: "\n"))
        #expect(profile.signIn.redirectPort == 8765)
        #expect(profile.maxRefreshesPerSecond == 50)
    }

    @Test func `all fields are read`() throws {
        let profile = try decode(
            """
            name: x
            documentation: https://x.example/
            issuer: https://x.example/a
            issuer_template: https://x.example/{t}
            token_endpoint: https://x.example/token?p=1
            revocation_endpoint: https://x.example/revoke
            authentication: client_secret_post
            refresh_parameters: {audience: a}
            revocation_parameters: {b: c}
            headers: {Origin: http://localhost}
            correlation_header: client-request-id
            scope_separator: ","
            token_path: data.tokens
            default_lifetime: 90m
            zero_lifetime: never
            refresh_token_lifetime: 90d
            rotation_grace: 30
            grant_ended: [{status: 403, field: error.message, text: "it is over"}, {status: 400}]
            ca_file: /etc/ca.pem
            max_concurrent_refreshes: 2
            max_refreshes_per_second: 0.5
            refresh_endpoint: https://x.example/refresh
            body_format: json
            token_fields: [instance_url, team.id]
            validate_at_most: 1d
            refresh_token_lifetime_from: sign-in
            revocation_method: delete
            revocation_token: access_token
            revocation_token_parameter: access_token
            revocation_format: json
            revocation_authentication: client_secret_basic
            end_session_redirect_parameter: logout_uri
            required_settings: [scopes, redirect_port]
            scopes_for: {mail: [openid, mail], files: [drive]}
            notes: [{about: client, text: "Make one."}, {about: client, text: "Or two."}]
            """
        )
        #expect(profile.refreshTokenLifetimeStart == .signIn)
        var form = RevocationForm()
        (form.method, form.credential, form.parameter) = (.delete, .accessToken, "access_token")
        (form.format, form.authentication) = (.json, .clientSecretBasic)
        #expect(profile.revocationForm == form)
        #expect(profile.endSessionRedirectParameter == "logout_uri")
        #expect(profile.requiredSettings == [.scopes, .redirectPort])
        #expect(profile.scopesByPurpose == ["mail": ["openid", "mail"], "files": ["drive"]])
        #expect(profile.notes == [ProfileNote(.client, "Make one."), ProfileNote(.client, "Or two.")])
        #expect(profile.note(about: .client) == "Make one." && profile.note(about: .device) == nil)
        #expect(profile.refreshEndpoint?.url == "https://x.example/refresh")
        #expect(profile.bodyFormat == .json)
        #expect(profile.tokenFields == ["instance_url", "team.id"])
        #expect(profile.validateAtMost == .seconds(86_400))
        #expect(profile.issuer?.url == "https://x.example/a")
        #expect(profile.issuerTemplate == "https://x.example/{t}")
        #expect(profile.tokenEndpoint?.url == "https://x.example/token?p=1")
        #expect(profile.revocationEndpoint?.url == "https://x.example/revoke")
        #expect(profile.authentication == .clientSecretPost)
        #expect(profile.refreshParameters == ["audience": "a"])
        #expect(profile.revocationParameters == ["b": "c"])
        #expect(profile.headers == ["Origin": "http://localhost"])
        #expect(profile.correlationHeader == "client-request-id")
        #expect(profile.scopeSeparator == ",")
        #expect(profile.tokenPath == ["data", "tokens"])
        #expect(profile.defaultLifetime == .seconds(5400))
        #expect(profile.refreshTokenLifetime == .seconds(7_776_000))
        #expect(profile.rotationGrace == .seconds(30))
        #expect(profile.zeroLifetime == .never)
        #expect(profile.grantEnded.map(\.status) == [403, 400])
        #expect(profile.grantEnded.first?.field == "error.message" && profile.grantEnded.first?.text == "it is over")
        #expect(profile.caFile == "/etc/ca.pem")
        #expect(profile.maxConcurrentRefreshes == 2)
        #expect(profile.maxRefreshesPerSecond == 0.5)
    }

    @Test func `all fields about sign-in are read`() throws {
        let profile = try decode(
            """
            name: x
            authorization_endpoint: https://x.example/authorize?policy=p
            device_authorization_endpoint: https://x.example/device
            pushed_authorization_request_endpoint: https://x.example/par
            end_session_endpoint: https://x.example/end
            registration_endpoint: https://x.example/register
            jwks_uri: https://x.example/keys
            userinfo_endpoint: https://x.example/me
            authorization_parameters: {access_type: offline, prompt: consent}
            scopes: [openid, mail]
            scope_parameter: user_scope
            pkce: none
            redirects: [loopback-localhost, loopback, scheme, https, paste]
            redirect_uri: https://me.example/back
            redirect_port: 8080
            redirect_scheme: org.example.app
            response_mode: form_post
            code_parameter: spapi_oauth_code
            callback_fields: [realmId]
            id_token: required
            """
        )
        #expect(profile.endpoints.authorization?.url == "https://x.example/authorize?policy=p")
        #expect(profile.endpoints.deviceAuthorization?.url == "https://x.example/device")
        #expect(profile.endpoints.pushedAuthorizationRequest?.url == "https://x.example/par")
        #expect(profile.endpoints.endSession?.url == "https://x.example/end")
        #expect(profile.endpoints.registration?.url == "https://x.example/register")
        #expect(profile.endpoints.keySet?.url == "https://x.example/keys")
        #expect(profile.endpoints.userInfo?.url == "https://x.example/me")
        let signIn = profile.signIn
        #expect(signIn.authorizationParameters == ["access_type": "offline", "prompt": "consent"])
        #expect(signIn.scopes == ["openid", "mail"])
        #expect(signIn.scopeParameter == "user_scope")
        #expect(signIn.pkce == .unsupported)
        #expect(signIn.redirects == [.loopbackByName, .loopback, .scheme, .https, .paste])
        #expect(signIn.redirectURI == "https://me.example/back")
        #expect(signIn.redirectPort == 8080)
        #expect(signIn.redirectScheme == "org.example.app")
        #expect(signIn.responseMode == .formPost)
        #expect(signIn.codeParameters == ["spapi_oauth_code"])
        #expect(signIn.callbackFields == ["realmId"])
        #expect(signIn.idToken == .required)
        let bare = try decode("name: x\n")
        #expect(bare.signIn == SignInProfile())
        #expect(bare.signIn.pkce == nil)
        #expect(bare.endpoints == ServerEndpoints())
        #expect(bare.bodyFormat == .form)
        #expect(bare.revocationForm == RevocationForm())
        #expect(bare.refreshTokenLifetimeStart == .use)
    }

    @Test(arguments: [
        "tokn_endpoint: https://x.example/", "token_endpoint: http://x.example/",
        "token_endpoint: https://u:p@x.example/",
        "issuer: x.example", "issuer: http://x.example", "authentication: magic", "refresh_parameters: {grant_type: x}",
        "revocation_parameters: {token: x}", "refresh_parameters: 5", "headers: {Authorization: x}",
        "headers: {\"X-A\": \"b\\r\\nc: d\"}", "headers: {\"a b\": c}", "correlation_header: host",
        "scope_separator: \", \"",
        "token_path: a..b", "default_lifetime: soon", "default_lifetime: 0s", "default_lifetime: 101y",
        "refresh_token_lifetime: -1d", "ca_file: ca.pem",
        "refresh_with: id_token", "refresh_method: put", "refresh_grant_type: \"a b\"",
        "refresh_token_parameter: grant_type",
        "introspection_endpoint: http://x.example/", "authorization_endpoint: http://x.example/", "jwks_uri: keys",
        "refresh_endpoint: http://x.example/",
        "body_format: xml", "pkce: plain", "redirects: [loopback, mail]", "redirects: loopback", "redirect_port: 0",
        "redirect_port: 65536", "redirect_scheme: https", "redirect_scheme: Org.example", "redirect_uri: back",
        "redirect_uri: \"https://me.example/#x\"", "response_mode: fragment", "code_parameter: \"a b\"",
        "callback_fields: {a: b}", "policy_claims: {a: b}", "password_reset_policy: a/b", "cancelled_on: [\"a b\"]",
        "policy_variable: t\nvariables: [{name: u, help: h}]", "password_reset_on: [\"\"]", "token_fields: [\"\"]",
        "id_token: maybe", "validate_at_most: never",
        "scopes: [\"a b\"]",
        "authorization_parameters: {State: x}", "authorization_parameters: {redirect_uri: x}",
        "authorization_parameters: {scope: x}", "scope_parameter: \"\"", "max_concurrent_refreshes: 0",
        "max_refreshes_per_second: 0",
        "refresh_token_lifetime_from: login", "required_settings: [port]", "required_settings: scopes",
        "end_session_redirect_parameter: \"a b\"", "revocation_method: put", "revocation_token: id_token",
        "revocation_token_parameter: \"\"", "revocation_format: xml", "revocation_authentication: magic",
        "notes: [{about: weather, text: x}]", "notes: [{text: x}]", "notes: [{about: client, text: \"\"}]",
        "notes: [{about: client, text: \"a\\nb\"}]", "notes: [{about: client}]", "scopes_for: {Mail: [a]}",
        "scopes_for: {mail: []}", "scopes_for: {mail: [\"a b\"]}", "scopes_for: {mail: a}",
        "token_endpoint: https://x.example/{client_id}", "revocation_endpoint: http://x.example/{client_id}",
        "revocation_endpoint: https://x.example/{client}",
    ])
    func `a field with an unusable value is refused, and the error names it`(_ line: String) throws {
        let key = String(line.prefix { $0 != ":" })
        let error = #expect(throws: DecodingError.self) { try decode("name: x\n" + line) }
        #expect(String(describing: error).contains(key))
    }

    @Test(
        arguments: [
            ([], nil, nil, .scopes), (["openid", "offline_access"], nil, nil, .scopes),
            (["api"], nil, nil, .redirectPort),
            (["openid", "api"], 8400, nil, nil), (["api"], nil, "https://me.example/back", nil),
            (["api"], nil, "http://localhost:8400/back", nil), (["api"], nil, "http://[::1]/back", .redirectPort),
            (["api"], nil, "org.example.me:/back", nil),
        ] as [([String], Int?, String?, RequiredSetting?)]
    )
    func `required settings are reported until the account has them`(
        _ scopes: [String],
        _ port: Int?,
        _ uri: String?,
        _ missing: RequiredSetting?
    ) throws {
        let profile = try decode("name: x\nrequired_settings: [scopes, redirect_port]\nscopes: [openid]")
        let redirect = RegisteredRedirect(uri: uri, port: port)
        let registration = ClientRegistration(clientID: "c", scopes: scopes, redirect: redirect)
        #expect(profile.missingSetting(registration) == missing)
        #expect(try decode("name: x").missingSetting(registration) == nil)
    }

    @Test func `shipped profiles have notes for their required settings`() throws {
        for file in try Self.files() {
            let profile = try decode(try String(contentsOf: file, encoding: .utf8))
            for setting in profile.requiredSettings {
                let topic: ProfileNote.Topic = setting == .scopes ? .scopes : .redirects
                #expect(profile.note(about: topic) != nil, "\(profile.name)")
            }
            #expect(Set(profile.notes.map(\.topic)).count == profile.notes.count, "\(profile.name)")
            if ["google", "microsoft"].contains(profile.name) {
                #expect(profile.scopesByPurpose.keys.sorted() == ["calendar", "files", "mail"])
            }
        }
    }

    @Test func `shipped profiles with policies name the variable for them`() throws {
        let named = try Self.files().compactMap { try decode(String(contentsOf: $0, encoding: .utf8)) }
            .filter { $0.policies != SignInPolicies() }
        #expect(named.map(\.name) == ["azure-b2c"])
        for profile in named { #expect(profile.variables.map(\.name).contains(profile.policies.variable ?? "")) }
    }

    @Test func `no two shipped profiles have the same issuer`() throws {
        let issuers = try Self.files().compactMap { try decode(String(contentsOf: $0, encoding: .utf8)).issuer }
        #expect(Set(issuers).count == issuers.count)
    }

    @Test(arguments: [
        ("30s", 30), ("45", 45), ("5m", 300), ("12h", 43_200), ("90d", 7_776_000), ("2w", 1_209_600),
    ])
    func `time spans are read`(_ text: String, _ seconds: Int) {
        #expect(Duration(written: text) == .seconds(seconds))
    }

    @Test(arguments: ["", "s", "1.5h", "-1s", "0", "1 d", "9999999999d", "99999999999999999999"])
    func `other time spans are refused`(_ text: String) {
        #expect(Duration(written: text) == nil)
    }

    @Test(arguments: [
        "https://a.example", "https://a.example//api", "https://a.example:8443/t?p=x", "http://127.0.0.1:80/",
        "http://localhost/t", "http://[::1]:8080/t", "HTTPS://A.example/",
        "http://[0:0:0:0:0:0:0:1]/t", "https://[2001:db8::1]/t",
    ])
    func `valid endpoints are accepted as published`(_ url: String) {
        #expect(Endpoint(url)?.url == url)
    }

    @Test(arguments: [
        "", "a.example", "http://a.example/", "https://", "https:///t", "https://u@a.example/", "https://a.example/#f",
        "https://a.example:0/", "https://a.example:99999/", "https://a.example/ t", "https://a.example\\@b.example/",
        "http://127.0.0.1.evil.example/", "http://127.0.0.1@evil.example/", "ftp://127.0.0.1/", "https://[::1",
        "https://ä.example/", "http://localhost.evil.example/", "https://a.exampl%65/", "https://%31%32%37.0.0.1/t",
        "https://[::ffff:127.0.0.1]/t", "https://[::ffff:7f00:1]/t", "https://[a.example]/t", "http://127.0.0.010/t",
    ])
    func `other endpoints are refused`(_ url: String) {
        #expect(Endpoint(url) == nil)
    }
}
