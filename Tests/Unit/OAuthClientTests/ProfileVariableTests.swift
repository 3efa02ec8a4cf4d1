import Foundation
@testable import RefreshCore
import Testing
import Yams

@testable import OAuthMessages

/// The values of accounts in the URLs of their provider's profile.
struct ProfileVariableTests {
    private static let tenants = """
        name: x
        variables:
          - {name: tenant, help: the tenant, default: common, pattern: "common|[a-z]{3}"}
          - {name: policy, help: the policy}
        issuer: https://x.example/{tenant}/v2
        """

    private func decode(_ yaml: String) throws -> ProviderProfile {
        try YAMLDecoder().decode(ProviderProfile.self, from: yaml)
    }

    @Test func `defaults are used for variables that an account does not set`() throws {
        let profile = try decode(Self.tenants)
        #expect(profile.issuer?.url == "https://x.example/common/v2")
        #expect(profile.issuerText == "https://x.example/{tenant}/v2")
        #expect(try profile.resolved(with: ["tenant": "abc"]).issuer?.url == "https://x.example/abc/v2")
        // The value of one account is not used for the next.
        #expect(try profile.resolved(with: [:]).issuer?.url == "https://x.example/common/v2")
    }

    @Test func `endpoints are filled in, or the missing variables are named`() throws {
        let profile = try decode(
            Self.tenants + "\ntoken_endpoint: https://{tenant}.x.example/{policy}/token?p={policy}"
        )
        #expect(profile.tokenEndpoint == nil)
        #expect(throws: ProviderProfile.missing([profile.variables[1]])) { try profile.resolved(with: [:]) }
        let own = try profile.resolved(with: ["policy": "B2C_1", "tenant": "abc"])
        #expect(own.tokenEndpoint?.url == "https://abc.x.example/B2C_1/token?p=B2C_1")
    }

    @Test func `an issuer with a missing variable can be named by the account`() throws {
        let profile = try decode(
            "name: x\nvariables: [{name: realm, help: h}]\nissuer: https://x.example/realms/{realm}"
        )
        #expect(profile.issuer == nil)
        #expect(try profile.resolved(with: [:]).issuer == nil)
        #expect(profile.missingForIssuer([:]).map(\.name) == ["realm"])
        #expect(profile.missingForIssuer(["realm": "staff"]) == [])
    }

    @Test(arguments: [
        "", "a/b", "a?b", "a#b", "a@b", "a:b", "a%2fb", "..", "a..b", ".a", "-a", "a b", "ä", "{tenant}", "a\\b", "a\n",
        String(repeating: "a", count: 254),
    ])
    func `a value can fill only a host label, a host or a path segment`(value: String) throws {
        let profile = try decode("name: x\nvariables: [{name: realm, help: h}]\nissuer: https://x.example/{realm}")
        let error = #expect(throws: ValueError.self) { try profile.resolved(with: ["realm": value]) }
        #expect(error?.reason.hasPrefix("'\(value)' cannot be the realm") == true)
    }

    @Test(arguments: ["abcd", "commons", "ab", "xcommon"])
    func `the whole value matches the pattern`(value: String) throws {
        let profile = try decode(Self.tenants)
        let unfit = #expect(throws: ValueError.self) { try profile.resolved(with: ["tenant": value]) }
        #expect(unfit?.reason.hasPrefix("'\(value)' cannot be the tenant") == true)
        let unknown = #expect(throws: ValueError.self) { try profile.resolved(with: ["realm": "a"]) }
        #expect(unknown?.reason == "the provider 'x' has no variable 'realm'")
    }

    @Test func `an alias of a value is accepted, and the URLs contain the real value`() throws {
        let profile = try decode(
            """
            name: x
            variables: [{name: tenant, help: h, default: all, pattern: "[a-z0-9-]+", aliases: {own: 9188-ad, all: common}}]
            issuer: https://x.example/{tenant}/v2
            """
        )
        #expect(profile.issuer?.url == "https://x.example/common/v2")
        #expect(try profile.resolved(with: ["tenant": "own"]).issuer?.url == "https://x.example/9188-ad/v2")
        #expect(try profile.resolved(with: ["tenant": "9188-ad"]).issuer?.url == "https://x.example/9188-ad/v2")
    }

    @Test func `the tenant of personal accounts is Microsoft's own`() throws {
        let file = ProviderProfileTests.folder.appendingPathComponent("microsoft.yaml")
        let profile = try decode(try String(contentsOf: file, encoding: .utf8))
        let issuer = try profile.resolved(with: ["tenant": "consumers"]).issuer
        #expect(issuer?.url == "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0")
    }

    @Test func `a tenant's domain is looked up, and a national cloud has its own host`() throws {
        let file = ProviderProfileTests.folder.appendingPathComponent("microsoft.yaml")
        let profile = try decode(try String(contentsOf: file, encoding: .utf8))
        let id = "775527ff-9a37-4307-8b3d-cc311f58d925"
        let usgov = try profile.resolved(with: ["tenant": id, "cloud": "usgov"])
        #expect(usgov.issuer?.url == "https://login.microsoftonline.us/\(id)/v2.0")
        #expect(usgov.issuerTemplate == "https://login.microsoftonline.us/{tenantid}/v2.0")
        #expect(try profile.resolved(with: [:]).issuerTemplate == "https://login.microsoftonline.com/{tenantid}/v2.0")
        #expect(profile.lookUp(for: ["tenant": id]) == nil && profile.lookUp(for: ["tenant": "common"]) == nil)
        #expect(profile.lookUp(for: ["tenant": "contoso.com", "cloud": "evil.example"]) == nil)
        let lookUp = try #require(profile.lookUp(for: ["tenant": "contoso.onmicrosoft.com", "cloud": "china"]))
        let server = "https://login.partner.microsoftonline.cn"
        #expect(lookUp.asked.url == "\(server)/contoso.onmicrosoft.com/v2.0")
        #expect(lookUp.value(in: try Issuer(url: "\(server)/\(id)/v2.0")) == id)
        #expect(lookUp.value(in: try Issuer(url: "https://evil.example/\(id)/v2.0")) == nil)
        #expect(lookUp.value(in: try Issuer(url: "\(server)/other.example/v2.0")) == nil)
        #expect(throws: ValueError.self) { try profile.resolved(with: ["tenant": "contoso.onmicrosoft.com"]) }
    }

    @Test func `a default may contain variables that are listed before it`() throws {
        let profile = try decode(
            """
            name: x
            variables:
              - {name: tenant, help: h}
              - {name: domain, help: h, default: "{tenant}.login.example", pattern: "[a-z.]+"}
            issuer: https://{domain}/v2
            token_endpoint: https://{domain}/{tenant}/token
            """
        )
        #expect(profile.missingForIssuer([:]).map(\.name) == ["tenant"])
        #expect(throws: ValueError.self) { try profile.resolved(with: [:]) }
        let usual = try profile.resolved(with: ["tenant": "abc"])
        #expect(usual.issuer?.url == "https://abc.login.example/v2")
        #expect(usual.tokenEndpoint?.url == "https://abc.login.example/abc/token")
        let own = try profile.resolved(with: ["tenant": "abc", "domain": "login.contoso.com"])
        #expect(own.issuer?.url == "https://login.contoso.com/v2")
        #expect(own.tokenEndpoint?.url == "https://login.contoso.com/abc/token")
    }

    @Test func `an issuer's other spelling is filled in, also in lower case`() throws {
        let profile = try decode(
            "name: x\nvariables: [{name: policy, help: h}]\nissuer_aliases: [\"https://x.example/{policy}/\", x.example]"
        )
        let own = try profile.resolved(with: ["policy": "B2C_1"])
        #expect(own.issuerAliases == ["https://x.example/B2C_1/", "https://x.example/b2c_1/", "x.example"])
        #expect(try profile.resolved(with: [:]).issuerAliases == ["x.example"])
        #expect(profile.unfilled.issuerAliases == ["x.example"])
    }

    @Test func `a custom domain of Azure AD B2C needs one word`() throws {
        let file = ProviderProfileTests.folder.appendingPathComponent("azure-b2c.yaml")
        let profile = try decode(try String(contentsOf: file, encoding: .utf8))
        let id = "775527ff-9a37-4307-8b3d-cc311f58d925"
        let values = ["tenant": "contoso", "tenant_id": id, "policy": "B2C_1_SignIn"]
        let usual = try profile.resolved(with: values)
        #expect(usual.issuer?.url == "https://contoso.b2clogin.com/\(id)/v2.0/")
        #expect(
            usual.tokenEndpoint?.url
                == "https://contoso.b2clogin.com/contoso.onmicrosoft.com/oauth2/v2.0/token?p=B2C_1_SignIn"
        )
        let own = try profile.resolved(with: values.merging(["domain": "login.contoso.com"]) { $1 })
        #expect(own.issuer?.url == "https://login.contoso.com/\(id)/v2.0/")
        #expect(own.endpoints.keySet?.host == "login.contoso.com")
        #expect(own.issuerAliases.last == "https://login.contoso.com/tfp/\(id)/b2c_1_signin/v2.0/")
        #expect(own.policies.current == "B2C_1_SignIn" && own.policies.claims == ["tfp", "acr"])
        let other = try #require(profile.variables(values, running: "B2C_1_edit"))
        #expect(try profile.resolved(with: other).endpoints.authorization?.url.hasSuffix("?p=B2C_1_edit") == true)
        #expect(profile.variables(values, running: "a&b") == nil)
    }

    @Test func `refresh parameters are filled in, and braces without a variable stay`() throws {
        let profile = try decode(
            """
            name: x
            variables: [{name: tenant, help: h}]
            refresh_parameters: {resource: "https://{tenant}.example", claims: '{"a":{}}', redirect_uri: "{redirect_uri}"}
            """
        )
        #expect(throws: ProviderProfile.missing(profile.variables)) { try profile.resolved(with: [:]) }
        let own = try profile.resolved(with: ["tenant": "abc"])
        var registration = ClientRegistration(clientID: "c")
        let usual = ["resource": "https://abc.example", "claims": #"{"a":{}}"#]
        #expect(own.refreshParameters(for: registration) == usual)
        registration.redirect.uri = "https://me.example/back"
        let redirect = ["redirect_uri": "https://me.example/back"]
        #expect(own.refreshParameters(for: registration) == usual.merging(redirect) { $1 })
    }

    @Test func `a client id becomes one segment of the revocation endpoint, whatever its characters`() throws {
        let profile = try decode(
            "name: x\nvariables: [{name: t, help: h}]\nrevocation_endpoint: https://{t}.example/apps/{client_id}/grant"
        )
        let own = try profile.resolved(with: ["t": "api"])
        #expect(own.revocationEndpoint == nil)
        #expect(own.revocationEndpoint(for: "Iv1.a")?.url == "https://api.example/apps/Iv1.a/grant")
        #expect(own.revocationEndpoint(for: "../a b?c")?.url == "https://api.example/apps/..%2Fa%20b%3Fc/grant")
        #expect(profile.unfilled.revocationEndpoint(for: "a") == nil)
    }

    @Test(arguments: [
        "variables: [{name: t, help: h, aliases: {a: \"b/c\"}}]", "variables: [{name: t, help: h, aliases: {a/b: c}}]",
        "variables: [{name: t, help: h, pattern: \"[a-z]\", aliases: {aa: b}}]",
        "issuer: https://x.example/{other}",
        "variables: [{name: t, help: h, default: \"{t}\"}]\nissuer: https://{t}.example",
        "variables: [{name: t, help: h, default: \"{u}.a\"}, {name: u, help: h}]\nissuer: https://{t}.example",
        "variables: [{name: t, help: h, pattern: \"(\"}]",
        "variables: [{name: T, help: h}]", "variables: [{name: t, help: h, default: \"/\"}]",
        "variables: [{name: t, help: h, size: 3}]",
        "variables: [{name: t, help: h}]\ntoken_endpoint: http://{t}.example/",
        "variables: [{name: t, help: h}]\nissuer: \"{t}\"",
    ])
    func `a profile that cannot be filled in is an error`(line: String) {
        #expect(throws: DecodingError.self) { try self.decode("name: x\n" + line) }
    }
}
