import Foundation
import NIOCore
import RefreshCore
import Synchronization
import Testing

@testable import OAuthMessages

struct MetadataTests {
    private struct Published: Decodable {
        let path: String
        let status: Int
        let document: [String: JSONTree]
    }

    private static let issuers = [
        "django-oauth-toolkit": "http://127.0.0.1:4701", "glewlwyd": "http://127.0.0.1:4593/api/oidc",
        "mcp-fastmcp": "http://127.0.0.1:4901/", "oidc-provider-mock": "http://127.0.0.1:9400",
    ]

    private func recorded(_ server: String) throws -> [[String: JSONTree]] {
        let all = try JSONDecoder().decode([String: [Published]].self, from: Fixture.data("metadata.json"))
        return try #require(all[server]).map(\.document)
    }

    @Test(arguments: issuers.keys.sorted())
    func `the documents of a real server are read`(_ server: String) throws {
        let issuer = try Issuer(url: try #require(Self.issuers[server]))
        let metadata = try AuthorizationServerMetadata(issuer: issuer, template: nil, documents: recorded(server))
        #expect(metadata.tokenEndpoint.url.hasSuffix(server == "django-oauth-toolkit" ? "/token/" : "/token"))
        #expect((metadata.revocationEndpoint != nil) == (server != "oidc-provider-mock"))
    }

    @Test func `fields that only one document has are read`() throws {
        let documents = try recorded("django-oauth-toolkit")
        #expect(documents[0]["revocation_endpoint"] == nil)
        let issuer = try Issuer(url: "http://127.0.0.1:4701")
        let metadata = try AuthorizationServerMetadata(issuer: issuer, template: nil, documents: documents)
        #expect(metadata.revocationEndpoint?.url == "http://127.0.0.1:4701/revoke_token/")
        #expect(metadata.tokenEndpointAuthenticationMethods == ["client_secret_post", "client_secret_basic"])
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example/.well-known/oauth-authorization-server"),
        ("https://a.example/", "https://a.example/.well-known/oauth-authorization-server"),
        ("https://a.example/t/1", "https://a.example/.well-known/oauth-authorization-server/t/1"),
        ("https://a.example:8443/t/", "https://a.example:8443/.well-known/oauth-authorization-server/t"),
    ])
    func `RFC 8414 inserts before the path, OpenID Connect appends`(_ url: String, _ expected: String) throws {
        let locations = AuthorizationServerMetadata.locations(of: try Issuer(url: url))
        #expect(locations.oauth?.url == expected)
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        #expect(locations.openID?.url == base + "/.well-known/openid-configuration")
    }

    @Test(arguments: ["https://a.example/", "https://A.example", "https://a.example:443", "https://b.example", ""])
    func `a document for another issuer is refused; issuers are compared byte for byte`(_ published: String) throws {
        let document = ["issuer": JSONTree.string(published), "token_endpoint": .string("https://a.example/t")]
        let issuer = try Issuer(url: "https://a.example")
        let error = #expect(throws: MetadataError.self) {
            try AuthorizationServerMetadata(issuer: issuer, template: nil, documents: [document])
        }
        #expect(error == .issuerMismatch(published: published.isEmpty ? nil : published))
        #expect(error?.refreshFailure.failureClass == .misconfigured)
    }

    @Test func `Entra's template is accepted only if a profile names it`() throws {
        let template = "https://login.microsoftonline.com/{tenantid}/v2.0"
        let document = ["issuer": JSONTree.string(template), "token_endpoint": .string("https://a.example/t")]
        let issuer = try Issuer(url: "https://login.microsoftonline.com/common/v2.0")
        let metadata = try AuthorizationServerMetadata(issuer: issuer, template: template, documents: [document])
        #expect(metadata.tokenEndpoint.url == "https://a.example/t")
        #expect(throws: MetadataError.issuerMismatch(published: template)) {
            try AuthorizationServerMetadata(issuer: issuer, template: nil, documents: [document])
        }
    }

    @Test func `a document of another issuer is ignored if the other document is right`() throws {
        let own = ["issuer": JSONTree.string("https://a.example"), "token_endpoint": .string("https://a.example/t")]
        let other = [
            "issuer": JSONTree.string("https://b.example"), "revocation_endpoint": .string("https://b.example/r"),
        ]
        let issuer = try Issuer(url: "https://a.example")
        let metadata = try AuthorizationServerMetadata(issuer: issuer, template: nil, documents: [other, own])
        #expect(metadata.revocationEndpoint == nil)
    }

    @Test(arguments: [
        "http://a.example/t", "http://127.0.0.1/t", "https://127.0.0.1/t", "t", "", "https://u@a.example/",
        "https://[::1]/t", "https://[0:0:0:0:0:0:0:1]/t", "http://[0::1]/t", "https://[::ffff:127.0.0.1]/t",
    ])
    func `an endpoint to which tokens must not be sent is refused`(_ url: String) throws {
        let document = ["issuer": JSONTree.string("https://a.example"), "token_endpoint": .string(url)]
        let issuer = try Issuer(url: "https://a.example")
        #expect(throws: MetadataError.unusableEndpoint("token_endpoint")) {
            try AuthorizationServerMetadata(issuer: issuer, template: nil, documents: [document])
        }
    }

    @Test func `an endpoint with a double slash is kept unchanged`() throws {
        let url = "https://a.example//api/token"
        let document = ["issuer": JSONTree.string("https://a.example"), "token_endpoint": .string(url)]
        let issuer = try Issuer(url: "https://a.example")
        let metadata = try AuthorizationServerMetadata(issuer: issuer, template: nil, documents: [document])
        #expect(metadata.tokenEndpoint.url == url)
    }

    @Test func `the fields for signing in are read`() throws {
        let metadata = try metadata([
            "authorization_endpoint": .string("https://a.example/authorize"),
            "device_authorization_endpoint": .string("https://a.example/device"),
            "pushed_authorization_request_endpoint": .string("https://a.example/par"),
            "end_session_endpoint": .string("https://a.example/end"),
            "registration_endpoint": .string("https://a.example/register"),
            "jwks_uri": .string("https://a.example/keys"),
            "userinfo_endpoint": .string("https://a.example/me"),
            "require_pushed_authorization_requests": .boolean(true),
            "require_signed_request_object": .boolean(true),
            "authorization_response_iss_parameter_supported": .boolean(true),
            "response_modes_supported": .array([.string("query")]),
            "code_challenge_methods_supported": .array([.string("S256")]),
            "scopes_supported": .array([.string("openid")]),
            "request_object_signing_alg_values_supported": .array([.string("RS256")]),
            "mtls_endpoint_aliases": .object([
                "token_endpoint": .string("https://mtls.a.example/t"), "bad": .string("http://a.example"),
            ]),
        ])
        #expect(metadata.endpoints.authorization?.url == "https://a.example/authorize")
        #expect(metadata.endpoints.deviceAuthorization?.url == "https://a.example/device")
        #expect(metadata.endpoints.pushedAuthorizationRequest?.url == "https://a.example/par")
        #expect(metadata.endpoints.endSession?.url == "https://a.example/end")
        #expect(metadata.endpoints.registration?.url == "https://a.example/register")
        #expect(metadata.endpoints.keySet?.url == "https://a.example/keys")
        #expect(metadata.endpoints.userInfo?.url == "https://a.example/me")
        #expect(metadata.requiresPushedAuthorizationRequests)
        #expect(metadata.requiresSignedRequestObjects)
        #expect(metadata.namesIssuerInResponses)
        #expect(metadata.codeChallengeMethods == ["S256"])
        #expect(metadata.scopes == ["openid"])
        #expect(metadata.requestObjectSigningAlgorithms == ["RS256"])
        #expect(metadata.mutualTLSAliases.mapValues(\.url) == ["token_endpoint": "https://mtls.a.example/t"])
    }

    @Test func `a flag other than true is not set, and an unusable endpoint counts as missing`() throws {
        let metadata = try metadata([
            "require_pushed_authorization_requests": .string("true"),
            "authorization_endpoint": .string("http://a.example/authorize"),
            "jwks_uri": .string("https://127.0.0.1/keys"),
            "revocation_endpoint": .string(""),
        ])
        #expect(metadata.revocationEndpoint == nil)
        #expect(!metadata.requiresPushedAuthorizationRequests)
        #expect(metadata.endpoints == ServerEndpoints())
    }

    @Test func `an endpoint from the profile is preferred to the published one`() throws {
        var profile = ProviderProfile(name: "test")
        profile.endpoints.deviceAuthorization = Endpoint("https://a.example/own-device")
        profile.endpoints.authorization = Endpoint("https://a.example/own-authorize")
        let published = try metadata([
            "authorization_endpoint": .string("https://a.example/authorize"),
            "jwks_uri": .string("https://a.example/keys"),
            "revocation_endpoint": .string("https://a.example/revoke"),
        ])
        let metadata = published.amended(by: profile)
        #expect(metadata.endpoints.deviceAuthorization?.url == "https://a.example/own-device")
        #expect(metadata.endpoints.authorization?.url == "https://a.example/own-authorize")
        #expect(metadata.endpoints.keySet?.url == "https://a.example/keys")
        #expect(metadata.revocationEndpoint?.url == "https://a.example/revoke")
        #expect(published.amended(by: nil) == published)
    }

    private func metadata(_ fields: [String: JSONTree]) throws -> AuthorizationServerMetadata {
        let base = ["issuer": JSONTree.string("https://a.example"), "token_endpoint": .string("https://a.example/t")]
        return try AuthorizationServerMetadata(
            issuer: try Issuer(url: "https://a.example"),
            template: nil,
            documents: [base.merging(fields) { $1 }]
        )
    }
}
